import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'node:test';
import { parseMountInfo } from '../../../src/base/mount-info.ts';
import { plainFields } from '../../../src/base/plain-fields.ts';
import { pemBlocks } from '../../../src/cluster/certificates/pem.ts';
import { parseDockercfg, parseDockerConfigJson } from '../../../src/images/docker-config.ts';
import { parseRegistryLocation } from '../../../src/images/registry-location.ts';
import { KubeconfigError } from '../../../src/cluster/kube/kubeconfig-error.ts';
import { parseKubeconfig } from '../../../src/cluster/kube/parse-kubeconfig.ts';
import { expand } from '../../../src/model/expansion.ts';
import { GoDurationError, parseGoDuration } from '../../../src/model/go-duration.ts';
import { ImageNameError, parseImageName } from '../../../src/model/image-name.ts';
import { LabelSelectorError } from '../../../src/model/label-requirement.ts';
import { parseCgroupPaths } from '../../../src/base/cgroup-paths.ts';
import { parseLabelRequirements } from '../../../src/model/parse-label-requirements.ts';
import { Quantity, QuantityParseError } from '../../../src/model/quantity.ts';
import { parseConfigFile } from '../../builders/parse-config-file.ts';
import { parseFlags } from '../../../src/options/parse-flags.ts';
import { healthCheckStatus } from '../../../src/probes/grpc-health.ts';
import { GoUrlError, parseGoUrl } from '../../../src/probes/go-url.ts';
import { requestTarget } from '../../../src/server/request-target.ts';
import { ResizeDecoder } from '../../../src/server/streaming/resize-decoder.ts';
import { SpdyFrameReader, SpdyProtocolError } from '../../../src/base/spdy/spdy-frame-reader.ts';
import { readApiPod } from '../../../src/cluster/pods/read-api-pod.ts';
import { staticPodReader } from '../../../src/sources/read-static-pods.ts';
import { parseCounters } from '../../../src/stats/cgroup-texts.ts';
import { disksOfV2, parseDiskNames } from '../../../src/stats/disk-texts.ts';
import { parsePressure } from '../../../src/stats/pressure-text.ts';
import { parseMemInfo } from '../../../src/base/mem-info.ts';
import { parseInterfaces, parseProcessStat } from '../../../src/stats/proc-texts.ts';

/** What parsers look for, so that chance gets somewhere. */
const words = fc.constantFrom(
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '\n',
  '\n  ',
  '- ',
  '? ',
  '&a ',
  '*a',
  '<<: ',
  '!!binary ',
  '!<',
  '| ',
  '> ',
  '#',
  '---\n',
  '...\n',

  '$(',
  ')',
  '$',
  '\\',
  '\\u',
  '%',
  '%41',
  '/',
  '..',
  '@',
  '=',
  'in (',
  '!',
  '\t',
  '\r',
  '\0',
  '\u0085',
  '\ud800',
  '\ufeff',

  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'apiVersion',
  'v1',
  'kind',
  'Pod',
  'PodList',
  'Secret',
  'items',

  'metadata',
  'name',
  'labels',
  'annotations',
  'spec',
  'containers',
  'image',
  'env',
  'null',
  'true',
  '1',
  '1e9',
  '0x1f',
  '.5',
  '-',
  '1Gi',
  '1h',

  'auths',
  'auth',
  'YTpi',
  'users',
  'contexts',
  'current-context',
  '--v=',
  '-----BEGIN A-----',
  '-----END A-----',
);
const texts = fc.oneof(
  fc
    .array(fc.oneof({ weight: 5, arbitrary: words }, { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 5 }) }), {
      maxLength: 60,
    })
    .map((all) => all.join('')),
  fc.json(),
  fc.string({ unit: 'binary' }),
);

const readFile = staticPodReader({ source: 'file', nodeName: 'n1', references: 'manifests', objects: true });
const readUrl = staticPodReader({ source: 'http', nodeName: 'n1' });
const known = [GoDurationError, ImageNameError, LabelSelectorError, QuantityParseError, GoUrlError, KubeconfigError, SpdyProtocolError];

/** Of each, an input that is wrong is refused with an error of its own; any other error is a fault of the parser. */
const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  'a manifest of a file': (text) => readFile(Buffer.from(text)),
  'a manifest of a URL': (text) => readUrl(Buffer.from(text)),
  'a manifest of any bytes': (text) => readFile(Buffer.from(text, 'latin1')),
  'a kubeconfig': (text) => parseKubeconfig(text, 'f'),
  'a config file': (text) => parseConfigFile(text, 'f'),
  flags: (text) => parseFlags(text.split(' ')),
  'flags of headers': (text) => parseFlags([`--manifest-url-header=${text}`, `--node-labels=${text}`, `--feature-gates=${text}`]),
  'a quantity': (text) => Quantity.fromJson(text).canonical(),
  'a duration': parseGoDuration,
  'a label selector': parseLabelRequirements,
  'an image name': parseImageName,
  'a registry location': parseRegistryLocation,
  variables: (text) => expand(text, (name) => (name === 'a' ? 'b' : undefined)),
  'a URL': parseGoUrl,
  'a request target': requestTarget,
  'mount points': parseMountInfo,
  'cgroup counters': parseCounters,
  'cgroup paths': parseCgroupPaths,
  pressure: parsePressure,
  disks: (text) => disksOfV2({ 'io.stat': text }),
  'disk names': parseDiskNames,
  interfaces: parseInterfaces,
  meminfo: parseMemInfo,
  'a process': parseProcessStat,
  'PEM blocks': pemBlocks,
  'log fields': (text) => plainFields({ [text]: text, at: { [text]: [text] } }),
  'terminal sizes': (text) => new ResizeDecoder().push(Buffer.from(text)),
  'a gRPC answer': (text) => healthCheckStatus(Buffer.from(text, 'latin1')),
  'SPDY frames': (text) => {
    const reader = new SpdyFrameReader();
    reader.push(Buffer.from(text, 'latin1'));
    while (reader.next() !== undefined);
  },
};

describe('whatever comes from outside', () => {
  for (const [name, parse] of Object.entries(parsers)) {
    test(`is read or refused as ${name}, and changes nothing else`, async () => {
      const before = Reflect.ownKeys(Object.prototype).length;
      await fc.assert(
        fc.asyncProperty(texts, async (text) => {
          try {
            await parse(text);
          } catch (error) {
            assert.ok(
              known.some((kind) => error instanceof kind),
              error instanceof Error ? error.stack : String(error),
            );
          }
          assert.equal(Reflect.ownKeys(Object.prototype).length, before);
        }),
        { numRuns: 400 },
      );
    });
  }

  for (const [name, parse] of [
    ['a docker config', parseDockerConfigJson],
    ['an old docker config', parseDockercfg],
  ] as const) {
    test(`is read or refused as ${name}`, () =>
      fc.assert(
        fc.property(texts, (text) => {
          try {
            parse(text);
          } catch (error) {
            assert.ok(error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError), String(error));
          }
        }),
        { numRuns: 400 },
      ));
  }

  test('is read or refused as a pod of the API server', () =>
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (metadata, spec, container) => {
        const whole = { metadata, spec };
        const meta = { name: 'a', namespace: 'b', uid: 'c' };
        for (const object of [whole, { metadata: meta, spec }, { metadata: meta, spec: { containers: [container] } }]) readApiPod(object);
      }),
    ));
});

describe('names that every object has', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];
  test('are names like any others in a manifest: as keys of labels, annotations and limits, and as fields', () => {
    for (const name of names) {
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a', labels: {}, annotations: {} },
        spec: { containers: [{ name: 'a', image: 'b' }] },
      };
      const entry = `{${JSON.stringify(name)}: "x"}`;
      for (const text of [
        JSON.stringify(pod).replace('"labels":{}', `"labels":${entry}`).replace('"annotations":{}', `"annotations":${entry}`),
        JSON.stringify(pod).replace('"kind":"Pod"', `"kind":"Pod",${entry.slice(1, -1)}`),
        JSON.stringify(pod).replace('"name":"a","labels"', `${entry.slice(1, -1)},"name":"a","labels"`),
        JSON.stringify(pod).replace('"image":"b"', `"image":"b","resources":{"limits":{${JSON.stringify(name)}:"1"}}`),
        JSON.stringify(pod).replace('"image":"b"', `"image":"b","nodeSelector":${entry}`),
        JSON.stringify(pod).replace('"image":"b"', `"image":"b","env":[{"name":${JSON.stringify(name)},"value":"$(${name})"}]`),
      ]) {
        for (const read of [readFile, readUrl]) {
          // As YAML, too, which JSON is.
          for (const manifest of [text, `# YAML\n${text}`]) {
            const [found] = read(Buffer.from(manifest)).pods;
            assert.equal(found?.key, 'default/a', manifest);
            const labels: object | undefined = found?.pod?.metadata.labels;
            if (labels && text.includes(`"labels":${entry}`)) assert.deepEqual(Object.entries(labels), [[name, 'x']]);
          }
        }
      }
    }
    assert.equal(Reflect.get({}, 'x'), undefined);
  });

  test('are unknown fields in a config file, and names of headers and labels on the command line', async () => {
    for (const name of names) {
      const { problems } = await parseConfigFile(
        `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${name}: 1\n`,
        'f',
      );
      assert.ok(problems.length <= 1);
      const { values } = parseFlags([`--manifest-url-header=${name}:a`, `--manifest-url-header=${name}:b`]);
      assert.deepEqual(Object.entries(values.manifestUrlHeader ?? {}), [[name, ['a', 'b']]]);
    }
  });
});
