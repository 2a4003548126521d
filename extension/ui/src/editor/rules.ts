// What somebody types into the editor, as an entry of spec.ignoreDifferences, and back
// as YAML to paste.
import type {Finding, IgnoreRule, ResourceRef} from '../types';

/** By which of the three ways a rule names what to ignore. */
export type Way = 'jsonPointers' | 'jqPathExpressions' | 'managedFieldsManagers';

/** What stands in the editor. */
export interface Draft {
  /** Tells one start of the editor from another. */
  id: string;
  group: string;
  kind: string;
  name: string;
  namespace: string;
  way: Way;
  /** One expression a line. */
  text: string;
}

export const ways: {id: Way; label: string; example: string}[] = [
  {id: 'jsonPointers', label: 'JSON pointers', example: '/spec/replicas'},
  {id: 'jqPathExpressions', label: 'jq paths', example: '.spec.template.spec.containers[] | select(.name == "web").image'},
  {id: 'managedFieldsManagers', label: 'Field managers', example: 'kube-controller-manager'},
];

let started = 0;

/** An empty draft, about a resource where there is one. */
export function emptyDraft(resource?: ResourceRef): Draft {
  return {
    id: `draft-${++started}`,
    group: resource?.group ?? '',
    kind: resource?.kind ?? '',
    name: resource?.name ?? '',
    namespace: resource?.namespace ?? '',
    way: 'jsonPointers',
    text: '',
  };
}

/** A draft that ignores the fields of a finding. */
export function draftOf(finding: Finding): Draft {
  return {...emptyDraft(finding.resource), text: finding.fields.map(({pointer}) => pointer).join('\n')};
}

/** The expressions of a draft, one a line, blank lines aside. */
export function expressions(draft: Draft): string[] {
  return draft.text
    .split('\n')
    .map((text) => text.trim())
    .filter(Boolean);
}

/** The draft as a rule. */
export function ruleOf(draft: Draft): IgnoreRule {
  const rule: IgnoreRule = {kind: draft.kind.trim()};
  for (const field of ['group', 'name', 'namespace'] as const) {
    const value = draft[field].trim();
    if (value !== '') {
      rule[field] = value;
    }
  }
  rule[draft.way] = expressions(draft);
  return rule;
}

/** What is wrong with a draft before anybody is asked; "" when nothing is. */
export function mistake(draft: Draft): string {
  const wanted = expressions(draft);
  if (draft.kind.trim() === '') {
    return 'Name the kind, or * for all kinds.';
  }
  if (wanted.length === 0) {
    return 'Write at least one line of what to ignore.';
  }
  const odd = draft.way === 'jsonPointers' ? wanted.find((text) => !text.startsWith('/')) : undefined;
  if (odd !== undefined) {
    return `A JSON pointer starts with a slash: ${odd}`;
  }
  return '';
}

/** The rule as YAML for the Application. */
export function yamlOf(rule: IgnoreRule): string {
  const out = ['spec:', '  ignoreDifferences:'];
  let lead = '    - ';
  for (const field of ['group', 'kind', 'name', 'namespace'] as const) {
    const value = rule[field];
    if (value !== undefined) {
      out.push(`${lead}${field}: ${scalar(value)}`);
      lead = '      ';
    }
  }
  for (const {id} of ways) {
    const values = rule[id];
    if (values !== undefined) {
      out.push(`${lead}${id}:`, ...values.map((value) => `        - ${scalar(value)}`));
      lead = '      ';
    }
  }
  return `${out.join('\n')}\n`;
}

/** A string as YAML: plain where nothing else could be meant, else as JSON, which is YAML too. */
function scalar(text: string): string {
  const plain = /^[A-Za-z/][\w./-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return plain ? text : JSON.stringify(text);
}
