import { describe, it } from 'node:test';
import { staticPodReader } from '../../../src/sources/read-static-pods.ts';
import { assertGrowsLinearly, ATTACK_BYTES, repeated } from '../../builders/growth.ts';

type Shape = (size: number) => string;

const json = (metadata: string, spec = '{"containers":[{"name":"a","image":"b"}]}'): string =>
  `{"apiVersion":"v1","kind":"Pod","metadata":${metadata},"spec":${spec}}`;
const yaml = (metadata: string, spec = 'containers: [{name: a, image: b}]'): string =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n${metadata}\nspec:\n  ${spec}\n`;
const listOf = (items: string): string => `{"apiVersion":"v1","kind":"PodList","items":[${items}]}`;
const pods: Shape = (size) =>
  repeated(size, (i) => `${i === 0 ? '' : ','}{"metadata":{"name":"p${i}"},"spec":{"containers":[{"name":"a","image":"b"}]}}`);
const container = (fields: string): string => `{"containers":[{"name":"a","image":"b",${fields}}]}`;
const separated = (size: number, unit: (i: number) => string): string => repeated(size, (i) => `${i === 0 ? '' : ','}${unit(i)}`);

const shapes: Readonly<Record<string, Shape>> = {
  'JSON: one big map, then its key again and again': (size) =>
    json(`{"name":"a","labels":{${separated(size / 2, (i) => `"k${i}":"v"`)}},${separated(size / 2, () => '"labels":{"x":"y"}')}}`),
  'JSON: one big list, then its key again and again': (size) =>
    json(
      '{"name":"a"}',
      `{"containers":[${separated(size / 2, (i) => `{"name":"c${i}"}`)}],${separated(size / 2, () => '"containers":[{}]')}}`,
    ),
  'JSON: the same scalar key again and again': (size) => json(`{${separated(size, () => '"name":"a"')}}`),
  'JSON: maps within maps, each of them repeated': (size) => json(`{${separated(size, (i) => `"annotations":{"a":{"b":{"c${i}":"d"}}}`)}}`),
  'JSON: unknown fields': (size) => json(`{"name":"a",${separated(size, (i) => `"lables${i}":1`)}}`),
  'JSON: faults of one field each': (size) => json(`{"name":"a","labels":{${separated(size, (i) => `"k${i}":1`)}}}`),
  'JSON: labels that are not valid': (size) => json(`{"name":"a","labels":{${separated(size, (i) => `"-${i}":"-"`)}}}`),
  'JSON: a key of opening brackets': (size) => json(`{"name":"a","labels":{"${repeated(size, '[')}":"v"}}`),
  'JSON: a label of brackets and dots': (size) => json(`{"name":"a","labels":{"${repeated(size, '].[')}":"v"}}`),
  'JSON: lists within lists': (size) => `${repeated(size / 2, '[')}${repeated(size / 2, ']')}`,
  'JSON: maps within maps': (size) => repeated(size, '{"a":'),
  'JSON: a long string': (size) => json(`{"name":"${repeated(size, 'x')}"}`),
  'JSON: a long string of escapes': (size) => json(`{"name":"${repeated(size, '\\u0041\\n')}"}`),
  'JSON: a long number': (size) => json(`{"generation":${repeated(size, '9')}}`),
  'JSON: spaces': (size) => json(`{"name":"a"${repeated(size, ' ')}}`),
  'JSON: a quantity of many digits': (size) => json('{"name":"a"}', container(`"resources":{"limits":{"cpu":"${repeated(size, '1')}"}}`)),
  'JSON: a quantity of many zeros': (size) => json('{"name":"a"}', container(`"resources":{"limits":{"cpu":"1${repeated(size, '0')}"}}`)),
  'JSON: a quantity of a long fraction': (size) =>
    json('{"name":"a"}', container(`"resources":{"limits":{"cpu":"0.${repeated(size, '0')}1"}}`)),
  'JSON: a quantity around spaces': (size) => json('{"name":"a"}', container(`"resources":{"limits":{"cpu":"1${repeated(size, ' ')}1"}}`)),
  'JSON: a resource whose name is opening brackets': (size) =>
    json('{"name":"a"}', container(`"resources":{"limits":{"${repeated(size, '[')}":"1"}}`)),
  'JSON: many quantities': (size) =>
    json('{"name":"a"}', container(`"resources":{"limits":{${separated(size, (i) => `"example.com/r${i}":"1Gi"`)}}}`)),
  'JSON: variables that refer to variables': (size) =>
    json('{"name":"a"}', container(`"env":[${separated(size, (i) => `{"name":"E${i}","value":"$(E${i})"}`)}]`)),
  'JSON: mounts of volumes': (size) =>
    json(
      '{"name":"a"}',
      `{"volumes":[${separated(size / 2, (i) => `{"name":"v${i}"}`)}],"containers":[{"name":"a","image":"b","volumeMounts":[${separated(size / 2, (i) => `{"name":"v${i}","mountPath":"/m${i}"}`)}]}]}`,
    ),
  'JSON: ports': (size) =>
    json('{"name":"a"}', container(`"ports":[${separated(size, (i) => `{"containerPort":${i % 65535},"hostPort":${i % 65535}}`)}]`)),
  'JSON: containers': (size) => json('{"name":"a"}', `{"containers":[${separated(size, (i) => `{"name":"c${i}","image":"b"}`)}]}`),
  'JSON: containers of one name': (size) => json('{"name":"a"}', `{"containers":[${separated(size, () => '{"name":"c","image":"b"}')}]}`),
  'JSON: init containers': (size) =>
    json(
      '{"name":"a"}',
      `{"initContainers":[${separated(size, (i) => `{"name":"c${i}","image":"b","restartPolicy":"Always"}`)}],"containers":[{"name":"a","image":"b"}]}`,
    ),
  'JSON: an image name of many parts': (size) => json('{"name":"a"}', `{"containers":[{"name":"a","image":"${repeated(size, 'a/')}"}]}`),
  'JSON: an image name of dashes': (size) => json('{"name":"a"}', `{"containers":[{"name":"a","image":"a${repeated(size, '-')}"}]}`),
  'JSON: tolerations': (size) =>
    json(
      '{"name":"a"}',
      `{"containers":[{"name":"a","image":"b"}],"tolerations":[${separated(size, (i) => `{"key":"k${i}","operator":"Exists"}`)}]}`,
    ),
  'JSON: host aliases': (size) =>
    json('{"name":"a"}', `{"containers":[{"name":"a","image":"b"}],"hostAliases":[${separated(size, () => '{"ip":"10.0.0.1"}')}]}`),
  'JSON: sysctls of one name': (size) =>
    json(
      '{"name":"a"}',
      `{"containers":[{"name":"a","image":"b"}],"securityContext":{"sysctls":[${separated(size, () => '{"name":"a.b","value":"1"}')}]}}`,
    ),
  'JSON: projected sources': (size) =>
    json(
      '{"name":"a"}',
      `{"containers":[{"name":"a","image":"b"}],"volumes":[{"name":"v","projected":{"sources":[${separated(size, (i) => `{"configMap":{"name":"m${i}","items":[{"key":"k","path":"p${i}"}]}}`)}]}}]}`,
    ),
  'JSON: an iSCSI name that begins again and again': (size) =>
    json(
      '{"name":"a"}',
      `{"containers":[{"name":"a","image":"b"}],"volumes":[{"name":"v","iscsi":{"targetPortal":"1.2.3.4","iqn":"${repeated(size, 'iqn.2001-01.a')}"}}]}`,
    ),
  'JSON: a path of many parts': (size) =>
    json('{"name":"a"}', container(`"volumeMounts":[{"name":"v","mountPath":"/a","subPath":"${repeated(size, 'a/')}.."}]`)),
  'a list of pods': (size) => listOf(pods(size)),
  'a list of one pod again and again': (size) =>
    listOf(separated(size, () => '{"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"b"}]}}')),
  'a list of what are no pods': (size) => listOf(separated(size, () => '1')),
  'a list of empty pods': (size) => listOf(separated(size, () => '{}')),
  'a Secret of many keys': (size) =>
    `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{${separated(size, (i) => `"k${i}":"YQ=="`)}}}`,
  'a Secret of many wrong keys': (size) =>
    `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{${separated(size, (i) => `"/${i}":1`)}}}`,
  'a Secret that ends early in many quotes': (size) => `{"apiVersion":"v1","kind":"Secret","${repeated(size, '\\"')}`,
  'YAML: the same key again and again': (size) => yaml(repeated(size, '  name: a\n')),
  'YAML: one big map, then its key again and again': (size) =>
    yaml(`  labels:\n${repeated(size / 2, (i) => `    k${i}: v\n`)}${repeated(size / 2, '  labels: {x: y}\n')}`),
  'YAML: unknown fields': (size) => yaml(repeated(size, (i) => `  lables${i}: 1\n`)),
  'YAML: faults of one field each': (size) => yaml(`  labels:\n${repeated(size, (i) => `    k${i}: 1\n`)}`),
  'YAML: brackets within brackets': (size) => `${repeated(size / 2, '[')}${repeated(size / 2, ']')}`,
  'YAML: braces within braces': (size) => `a: ${repeated(size, '{a: ')}`,
  'YAML: dashes in a line': (size) => `a:\n${repeated(size, '- ')}`,
  'YAML: question marks in a line': (size) => `a:\n${repeated(size, '? ')}`,
  'YAML: colons in a line': (size) => `a:\n${repeated(size, ': ')}`,
  'YAML: each line deeper than the one before, as deep as is allowed, again and again': (size) =>
    repeated(size, (i) => `k${i}:\n${Array.from({ length: 100 }, (_, depth) => `${' '.repeat(depth + 1)}a:\n`).join('')}`),
  'YAML: anchors': (size) => yaml(`  labels:\n${repeated(size, (i) => `    k${i}: &a${i} v\n`)}`),
  'YAML: one anchor and many aliases': (size) => yaml(`  name: &a b\n  labels:\n${repeated(size, (i) => `    k${i}: *a\n`)}`),
  'YAML: aliases of what is big': (size) =>
    yaml(`  labels: &a\n${repeated(size / 2, (i) => `    k${i}: v\n`)}  annotations:\n${repeated(size / 2, (i) => `    k${i}: *a\n`)}`),
  'YAML: merges of one map': (size) => yaml(`  labels: &a {b: c}\n  annotations:\n${repeated(size, '    <<: *a\n')}`),
  'YAML: a merge of a list of aliases': (size) => yaml(`  labels: &a {b: c}\n  annotations:\n    <<: [${separated(size, () => '*a')}]`),
  'YAML: aliases of nothing': (size) => yaml(`  labels: &a\n  annotations: [${separated(size, () => '*a')}]`),
  'YAML: documents': (size) => `${yaml('  name: a')}${repeated(size, '---\na: b\n')}`,
  'YAML: empty documents': (size) => `${yaml('  name: a')}${repeated(size, '---\n')}`,
  'YAML: comments': (size) => `${repeated(size, '# comment\n')}${yaml('  name: a')}`,
  'YAML: comments within': (size) => yaml(`  name: a\n${repeated(size, '  # comment\n')}`),
  'YAML: comments at the ends of lines': (size) => yaml(`  labels:\n${repeated(size, (i) => `    k${i}: v # comment\n`)}`),
  'YAML: comments in a flow': (size) => yaml(`  labels: {\n${repeated(size, '    # comment\n')}  }`),
  'YAML: empty lines': (size) => yaml(`  name: a\n${repeated(size, '\n')}`),
  'YAML: lines of spaces': (size) => yaml(`  name: a\n${repeated(size, '      \n')}`),
  'YAML: spaces': (size) => yaml(`  name: a${repeated(size, ' ')}`),
  'YAML: tabs': (size) => yaml(`  name: a${repeated(size, '\t')}`),
  'YAML: a long plain scalar': (size) => yaml(`  name: ${repeated(size, 'x')}`),
  'YAML: a plain scalar of many lines': (size) => yaml(`  name:\n${repeated(size, '    xx\n')}`),
  'YAML: a plain scalar of colons': (size) => yaml(`  name: ${repeated(size, 'a:')}`),
  'YAML: a scalar in double quotes': (size) => yaml(`  name: "${repeated(size, 'x')}"`),
  'YAML: a scalar in double quotes of escapes': (size) => yaml(`  name: "${repeated(size, '\\u0041\\n')}"`),
  'YAML: a scalar in double quotes of many lines': (size) => yaml(`  name: "${repeated(size, 'xx\n    ')}"`),
  'YAML: a scalar in double quotes that does not end': (size) => yaml(`  name: "${repeated(size, 'x\n')}`),
  'YAML: a scalar in single quotes of quotes': (size) => yaml(`  name: '${repeated(size, "''")}'`),
  'YAML: a scalar in single quotes of many lines': (size) => yaml(`  name: '${repeated(size, 'xx\n    ')}'`),
  'YAML: a block scalar': (size) => yaml(`  name: |\n${repeated(size, '    xx\n')}`),
  'YAML: a folded scalar': (size) => yaml(`  name: >\n${repeated(size, '    xx\n\n')}`),
  'YAML: a flow of many lines': (size) => yaml(`  labels: {\n${repeated(size, (i) => `    k${i}: v,\n`)}  }`),
  'YAML: a flow in one line': (size) => yaml(`  labels: {${separated(size, (i) => ` k${i}: v`)}}`),
  'YAML: a flow of keys alone': (size) => yaml(`  labels: {${separated(size, (i) => ` k${i}`)}}`),
  'YAML: commas': (size) => yaml(`  labels: [${repeated(size, ',')}]`),
  'YAML: a flow that is not closed': (size) => yaml(`  labels: {${separated(size, (i) => ` k${i}: v`)}`),
  'YAML: brackets behind the end': (size) => yaml(`  labels: {}${repeated(size, ']')}`),
  'YAML: tags': (size) => yaml(`  labels:\n${repeated(size, (i) => `    k${i}: !!str v\n`)}`),
  'YAML: tags that are not closed': (size) => yaml(`  name: ${repeated(size, '!<')}`),
  'YAML: directives': (size) => `${repeated(size, '%TAG !a! b\n')}---\n${yaml('  name: a')}`,
  'YAML: a long number': (size) => yaml(`  generation: ${repeated(size, '9')}`),
  'YAML: a long number in hexadecimal': (size) => yaml(`  generation: 0x${repeated(size, 'f')}`),
  'YAML: a long number of underscores': (size) => yaml(`  generation: 1${repeated(size, '_')}`),
  'YAML: a long fraction': (size) => yaml(`  generation: .${repeated(size, '1_')}x`),
  'YAML: lone carriage returns': (size) => yaml(`  name: a\n${repeated(size, '\r')}`),
  'YAML: names of pods': (size) =>
    `apiVersion: v1\nkind: PodList\nitems:\n${repeated(size, (i) => `- metadata:\n    name: p${i}\n  spec:\n    containers:\n    - name: a\n      image: b\n`)}`,
};

describe('reading a manifest', () => {
  const read = staticPodReader({ source: 'http', nodeName: 'node', objects: true });
  const reading = (shape: Shape) => (size: number) => {
    const manifest = Buffer.from(shape(size));
    return () => read(manifest);
  };
  for (const [name, shape] of Object.entries(shapes)) {
    it(`takes no more than linear time for ${name}`, () => assertGrowsLinearly(reading(shape)));
  }
  for (const [name, shape] of Object.entries(shapes).filter(([each]) => /^JSON: .* again and again/.test(each))) {
    it(`takes no more than linear time at ten times the size of the attack for ${name}`, () =>
      assertGrowsLinearly(reading(shape), { from: ATTACK_BYTES / 4, to: ATTACK_BYTES, enoughMs: Number.POSITIVE_INFINITY }));
  }
});
