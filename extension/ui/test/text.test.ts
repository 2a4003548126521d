import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';
import {mechanismTitles} from '../src/mechanisms';
import {decode, encode, initial, viewLink, write} from '../src/state';
import {effects, fieldPath, fixLabel, line, loses, mechanismLabel, needsAction, relativeTime, severity, show, sideText, syncLabel, syncTone, whereLabel} from '../src/text';
import {arrange} from '../src/app/arrange';
import {code, markdown, prose} from '../src/app/export';
import {ruleOf, emptyDraft, mistake, yamlOf} from '../src/editor/rules';
import vocabulary from './fixtures/vocabulary.json';
import {finding, loaded, report} from './made';

describe('the vocabulary', () => {
  it('has titles of mechanisms alone, and one that reads well for each', () => {
    expect(Object.keys(mechanismTitles).filter((id) => !vocabulary.mechanisms.includes(id))).toEqual([]);
    const labels = vocabulary.mechanisms.map(mechanismLabel);
    expect(new Set(labels).size).toBe(labels.length);
    expect(labels.filter((label) => vocabulary.mechanisms.includes(label) || label.length < 6)).toEqual([]);
    expect(mechanismLabel('immutable-field')).toBe('Immutable field');
    expect([mechanismLabel('constructor'), fixLabel('toString'), whereLabel('constructor' as never)]).toEqual(['Constructor', 'ToString', 'constructor']);
  });
  it('orders the effects as the backend does', () => {
    expect(effects).toEqual(vocabulary.effects);
    expect(effects.map(syncLabel).filter((label) => label === '')).toEqual([]);
    expect(severity('not-yet-known' as never)).toBe(effects.length);
  });
  it('is loud about an effect that it does not know, but claims no loss', () => {
    expect(syncTone('not-yet-known' as never)).toBe('bad');
    expect(loses({sync: 'not-yet-known' as never})).toBe(false);
    expect(loses({sync: 'destructive'})).toBe(true);
  });
  it('calls nothing noise that somebody has to look at', () => {
    const section = (mechanism: string, sync: string): string => arrange([finding(mechanism, {sync: sync as never})])[0]!.id;
    for (const mechanism of ['hidden-live-addition', 'pending-prune', 'respect-ignore-blocks-change', 'unhealthy-not-drift']) {
      expect(vocabulary.mechanisms).toContain(mechanism);
      expect([mechanism, section(mechanism, 'noop')]).toEqual([mechanism, 'action']);
    }
    for (const mechanism of ['hook-stuck', 'wave-blocked', 'deletion-stuck']) {
      expect([mechanism, section(mechanism, 'wait')]).toEqual([mechanism, 'action']);
    }
    expect(section('sync-in-progress', 'wait')).toBe('sync');
    expect(section('crd-list-default', 'noop')).toBe('noise');
    expect(needsAction(finding('hpa-replicas', {sync: 'fights-controller'}))).toBe(true);
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
  describe('is written', () => {
    const state = {...initial, search: 'web'};
    beforeEach(() => window.history.replaceState(null, '', '/applications/argocd/shop?resource=x'));
    afterEach(() => vi.restoreAllMocks());
    it('with the name of the view, which another person may not have used last', () => {
      write(state);
      expect(window.location.search).toBe('?resource=x&view=Drift&moorpin=q%3Aweb');
      write(initial);
      expect(window.location.search).toBe('?resource=x&view=Drift');
    });
    it('not into the URL of another view or page', () => {
      write(state, '/applications/argocd/other');
      expect(window.location.search).toBe('?resource=x');
      window.history.replaceState(null, '', '?view=tree');
      write(state);
      expect(window.location.search).toBe('?view=tree');
    });
    it('or not at all, where the browser has enough of it', () => {
      vi.spyOn(window.history, 'replaceState').mockImplementation(() => {
        throw new DOMException('too often', 'SecurityError');
      });
      expect(() => write(state)).not.toThrow();
    });
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

it('the Markdown says by whom it was compared, and what could not be read', () => {
  const made = {...loaded(report([finding('git-ahead', {sync: 'safe'})])), missing: ['The snapshot lacks <b>the tree</b>']};
  expect(markdown(made)).toContain('by Argo CD v2.14.21. ');
  expect(markdown(made)).toMatch(/### Not read or not heeded\n\n- The snapshot lacks \\<b\\>the tree/);
  expect(markdown({...made, missing: []})).not.toContain('Not read');
});
