import {describe, expect, it} from 'vitest';
import {mechanismTitles} from '../src/mechanisms';
import {decode, encode, initial, viewLink} from '../src/state';
import {effects, fieldPath, line, relativeTime, severity, show, sideText, syncLabel} from '../src/text';
import {code, prose} from '../src/app/export';
import {ruleOf, emptyDraft, mistake, yamlOf} from '../src/editor/rules';
import vocabulary from './fixtures/vocabulary.json';

describe('the vocabulary', () => {
  it('has a title for every mechanism, and none for others', () => {
    expect(Object.keys(mechanismTitles).sort()).toEqual([...vocabulary.mechanisms].sort());
  });
  it('orders the effects as the backend does', () => {
    expect(effects).toEqual(vocabulary.effects);
    expect(effects.map(syncLabel).filter((label) => label === '')).toEqual([]);
    expect(severity('not-yet-known' as never)).toBe(effects.length);
  });
});

describe('hostile text', () => {
  const rows: {[name: string]: [string, string]} = {
    'right-to-left override': ['abc\u202Edef', 'abc\\u202edef'],
    'escape sequence': ['\u001b[31mred', '\\u001b[31mred'],
    'zero width': ['pay\u200Bpal', 'pay\\u200bpal'],
    'a tag character': ['a\u{e0041}', 'a\\udb40\\udc41'],
    'half a pair': ['a\ud800', 'a\\ud800'],
    'odd space': ['a\u00a0b', 'a\\u00a0b'],
    'people write so': ['Grüße, 世界 🚀', 'Grüße, 世界 🚀'],
  };
  for (const [name, [text, want]] of Object.entries(rows)) {
    it(name, () => expect(show(text)).toBe(want));
  }
  it('stays on one line', () => expect(line('a\n\tb')).toBe('a b'));
  it('becomes no markup', () => {
    expect(prose('# <b>[x](http://evil)</b>')).toBe('\\# \\<b\\>\\[x\\](http\\://evil)\\</b\\>');
    expect(code('a`b``')).toBe('``` a`b`` ```');
  });
});

describe('fields', () => {
  it('are written as people write paths', () => {
    expect(fieldPath('/spec/containers/0/image')).toBe('spec.containers[0].image');
    expect(fieldPath('/metadata/annotations/a.b~1c')).toBe('metadata.annotations["a.b/c"]');
    expect(fieldPath('')).toBe('(the whole object)');
  });
  it('tell absent from null, and hide masks', () => {
    expect(sideText({pointer: '/a', target: null}, 'target')).toBe('null');
    expect(sideText({pointer: '/a', target: null}, 'live')).toBe('(absent)');
    expect(sideText({pointer: '/a', target: '++++++++', live: '++++++++++++'}, 'live')).toBe('(hidden, differs)');
  });
});

it('tells how long ago a time is', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  expect(relativeTime('2026-01-01T23:59:58Z', now)).toBe('just now');
  expect(relativeTime('2026-01-01T23:58:30Z', now)).toBe('1 minute ago');
  expect(relativeTime('2025-12-20T00:00:00Z', now)).toBe('13 days ago');
  expect(relativeTime('2026-01-02T02:00:00Z', now)).toBe('in 2 hours');
  expect(relativeTime('nonsense', now)).toBe('');
});

describe('the state in the URL', () => {
  it('comes back as it was', () => {
    const state = {...initial, mechanism: 'hpa-replicas', search: 'a~b:c d', action: true, open: 'manual-edit/apps/Deployment/web/front'};
    expect(decode(encode(state))).toEqual(state);
    expect(encode(initial)).toBe('');
  });
  it('takes no harm from anything', () => {
    expect(decode('q:%E0%A4%A~nonsense~:~open')).toEqual(initial);
  });
  it('is in links', () => {
    expect(viewLink({metadata: {name: 'shop', namespace: 'argocd'}}, {mechanism: 'none'})).toBe('applications/argocd/shop?view=Drift&moorpin=mechanism%3Anone');
  });
});

describe('ignore rules', () => {
  const draft = {...emptyDraft({group: 'apps', kind: 'Deployment', name: 'yes', namespace: 'web'}), text: ' /spec/replicas \n\n/metadata/labels/a: b'};
  it('become YAML that says the same', () => {
    expect(yamlOf(ruleOf(draft))).toBe(
      'spec:\n  ignoreDifferences:\n    - group: apps\n      kind: Deployment\n      name: "yes"\n      namespace: web\n      jsonPointers:\n        - /spec/replicas\n        - "/metadata/labels/a: b"\n',
    );
  });
  it('are checked before anybody is asked', () => {
    expect(mistake(draft)).toBe('');
    expect(mistake({...draft, text: 'spec/replicas'})).toContain('slash');
    expect(mistake({...draft, kind: ' '})).toContain('kind');
    expect(mistake({...draft, text: ''})).toContain('line');
  });
});
