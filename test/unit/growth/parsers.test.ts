import type { IncomingHttpHeaders } from 'node:http';
import { describe, it } from 'node:test';
import { parseMountInfo, mountOf } from '../../../src/base/mount-info.ts';
import { plainFields } from '../../../src/base/plain-fields.ts';
import { pemBlocks } from '../../../src/cluster/certificates/pem.ts';
import { parseClientIdentity } from '../../../src/cluster/certificates/client-identity.ts';
import { demux } from '../../../src/engines/docker/client/demux.ts';
import { readPortsLabel } from '../../../src/engines/common/identity/go-label-json.ts';
import { jsonLines } from '../../../src/engines/docker/client/json-lines.ts';
import { LogDecoder } from '../../../src/engines/common/logs/log-decoder.ts';
import { credentialHelpersOf, parseDockercfg, parseDockerConfigJson } from '../../../src/images/docker-config.ts';
import { globMatches } from '../../../src/base/glob.ts';
import { credentialsFor, entriesOfSecrets } from '../../../src/images/keyring.ts';
import { LineDecoder } from '../../../src/cluster/kube/line-decoder.ts';
import { parseKubeconfig } from '../../../src/cluster/kube/parse-kubeconfig.ts';
import { EnvFile } from '../../../src/model/env-file.ts';
import { expand, MAX_EXPANDED } from '../../../src/model/expansion.ts';
import { parseGoDuration } from '../../../src/model/go-duration.ts';
import { parseGoJson } from '../../../src/model/go-json-syntax.ts';
import { parseImageName } from '../../../src/model/image-name.ts';
import { parseCgroupPaths } from '../../../src/base/cgroup-paths.ts';
import { parseLabelRequirements } from '../../../src/model/parse-label-requirements.ts';
import { Quantity } from '../../../src/model/quantity.ts';
import { parseResolvConf } from '../../../src/model/resolv-conf.ts';
import { isDns1123Subdomain, isQualifiedName } from '../../../src/model/validation/formats.ts';
import { readTolerationsAnnotation } from '../../../src/model/validation/tolerations-annotation.ts';
import { hostNetworkHostsFile } from '../../../src/network/hosts-file.ts';
import { parseConfList } from '../../../src/engines/cni/network-list.ts';
import { resultAddresses } from '../../../src/engines/cni/result-addresses.ts';
import { parseIp } from '../../../src/node/ip-address.ts';
import { parseConfigFile } from '../../builders/parse-config-file.ts';
import { parseFlags } from '../../../src/options/parse-flags.ts';
import { healthCheckStatus } from '../../../src/probes/grpc-health.ts';
import { parseGoUrl } from '../../../src/probes/go-url.ts';
import { bearerToken, webSocketToken } from '../../../src/server/auth/bearer-token.ts';
import { queryOf, requestTarget } from '../../../src/server/request-target.ts';
import { logOptions } from '../../../src/server/routes/log-options.ts';
import { ResizeDecoder } from '../../../src/server/streaming/resize-decoder.ts';
import { HeaderInflater, HeaderPacker } from '../../../src/base/spdy/spdy-header-block.ts';
import { SpdyFrameReader } from '../../../src/base/spdy/spdy-frame-reader.ts';
import { readApiPod } from '../../../src/cluster/pods/read-api-pod.ts';
import { parseCounters } from '../../../src/stats/cgroup-texts.ts';
import { disksOfV2, parseDiskNames } from '../../../src/stats/disk-texts.ts';
import { parsePressure } from '../../../src/stats/pressure-text.ts';
import { parseMemInfo } from '../../../src/base/mem-info.ts';
import { parseInterfaces, parseProcessStat } from '../../../src/stats/proc-texts.ts';
import { assertGrowsLinearly, ATTACK_BYTES, repeated } from '../../builders/growth.ts';

/** What to run on an input of some size. Making the input is not counted. */
type Attack = (size: number) => () => unknown;

const on =
  (parse: (text: string) => unknown, shape: (size: number) => string): Attack =>
  (size) => {
    const text = shape(size);
    return () => parse(text);
  };
const separated = (size: number, unit: (i: number) => string): string => repeated(size, (i) => `${i === 0 ? '' : ','}${unit(i)}`);
const of =
  (unit: string): ((size: number) => string) =>
  (size) =>
    repeated(size, unit);

/** The same bytes in chunks of so many. */
function* cut(text: string, bytes: number): Generator<Buffer> {
  const whole = Buffer.from(text);
  for (let at = 0; at < whole.length; at += bytes) yield whole.subarray(at, at + bytes);
}

const secret = (json: string): Parameters<typeof entriesOfSecrets>[0] => [
  { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': Buffer.from(json).toString('base64') } },
];
const keyring = (text: string): unknown => credentialsFor('registry.example/a/b', entriesOfSecrets(secret(text)));
const kubeconfig = (text: string): unknown => parseKubeconfig(text, 'kubeconfig');
const configFile = (text: string): unknown => parseConfigFile(text, 'config');
const configHead = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const query = (url: string): unknown => {
  const target = requestTarget(url);
  const parameters = 'search' in target ? queryOf(target.search) : undefined;
  return parameters && logOptions(parameters, 0, true);
};
const spdyFrames = (chunks: Iterable<Buffer>): void => {
  const reader = new SpdyFrameReader();
  for (const chunk of chunks) {
    reader.push(chunk);
    while (reader.next() !== undefined);
  }
};
const authorization = (text: string): unknown => bearerToken({ authorization: text });
const protocols = (text: string): unknown => {
  const headers: IncomingHttpHeaders = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-protocol': text };
  return webSocketToken(headers);
};
const logLine = (text: string): unknown => new LogDecoder({ timestamps: false }).decode(Buffer.from(text));
const dockerLine = (text: string): string => `{"log":"${text}\\n","stream":"stdout","time":"2021-02-03T04:05:06Z"}\n`;

const attacks: Readonly<Record<string, Attack>> = {
  'variables that are not closed': on((text) => expand(text, () => undefined), of('$(')),
  'variables within variables': on(
    (text) => expand(text, () => undefined),
    (size) => `${repeated(size / 2, '$(')}${repeated(size / 2, ')')}`,
  ),
  'dollar signs': on((text) => expand(text, () => undefined), of('$')),
  'variables that double the ones before them': (size) => () => {
    const values = new Map<string, string>([['0', 'x']]);
    let room = MAX_EXPANDED;
    for (let i = 1; i * 16 < size; i++) {
      const value = expand(`$(${i - 1})$(${i - 1})`, (name) => values.get(name), room);
      room -= value.length;
      values.set(String(i), value);
    }
  },
  'a file of variables: spaces in a name': on(
    (text) => new EnvFile(text, 'file').valueOf('key'),
    (size) => `a${repeated(size, ' ')}b=''`,
  ),
  'a file of variables: a value of many lines': on(
    (text) => new EnvFile(text, 'file').valueOf('key'),
    (size) => `a='${repeated(size, '\n')}'`,
  ),
  'a file of variables: many of them': on((text) => new EnvFile(text, 'file').valueOf('key'), of("a=''\n")),
  'a quantity of digits': on((text) => Quantity.parse(text).canonical(), of('9')),
  'a quantity of a long exponent': on(
    (text) => Quantity.parse(text).canonical(),
    (size) => `1e${repeated(size, '0')}9`,
  ),
  'a quantity of spaces': on(
    (text) => Quantity.fromJson(text).canonical(),
    (size) => `1${repeated(size, ' ')}1`,
  ),
  'a duration of many parts': on(parseGoDuration, of('1ns')),
  'a duration of many digits': on(parseGoDuration, (size) => `${repeated(size, '0')}1s`),
  'a duration of a long fraction': on(parseGoDuration, (size) => `0.${repeated(size, '9')}s`),
  'a label selector of many parts': on(parseLabelRequirements, (size) => separated(size, (i) => `k${i}=v`)),
  'a label selector of many values': on(parseLabelRequirements, (size) => `a in (${separated(size, (i) => `v${i}`)})`),
  'a label selector of spaces': on(parseLabelRequirements, (size) => `a${repeated(size, ' ')}b`),
  'a label selector of brackets': on(parseLabelRequirements, of('(')),
  'a label key of dots': on(isQualifiedName, of('a.')),
  'a label key of dashes': on(isQualifiedName, (size) => `a${repeated(size, '-')}`),
  'a domain of letters': on(isDns1123Subdomain, (size) => `${repeated(size, 'a')}!`),
  'an image name of underscores': on(parseImageName, (size) => `a${repeated(size, '__a')}!`),
  'an image name of dashes': on(parseImageName, (size) => `a${repeated(size, '-')}`),
  'an image name of capitals': on(parseImageName, (size) => `a/${repeated(size, 'A-')}`),
  'an image digest': on(parseImageName, (size) => `a@a${repeated(size, '+a')}`),
  'an address of colons': on(parseIp, of(':')),
  'tolerations in an annotation': on(readTolerationsAnnotation, (size) => `[${separated(size, () => '{"key":"a"}')}]`),
  "JSON in Go's words: lists within lists": on(parseGoJson, of('[')),
  "JSON in Go's words: spaces": on(parseGoJson, of(' ')),
  "JSON in Go's words: one key again and again": on(parseGoJson, (size) => `{${separated(size, () => '"a":{}')}}`),
  "JSON in Go's words: a long string of escapes": on(parseGoJson, (size) => `"${repeated(size, '\\u0041')}"`),

  'resolv.conf: name servers': on(parseResolvConf, of('nameserver 1.2.3.4\n')),
  'resolv.conf: search domains': on(parseResolvConf, (size) => `search ${repeated(size, 'a ')}`),
  'resolv.conf: spaces': on(parseResolvConf, (size) => `search a${repeated(size, ' ')}b`),
  'hosts: many lines': on((text) => hostNetworkHostsFile(text, []), of('127.0.0.1 localhost\n')),
  'mountinfo: many mounts, and the one of a path': on(
    (text) => mountOf(parseMountInfo(text), '/a/b/c'),
    (size) => repeated(size, (i) => `${i} 1 8:1 / /a/b/${i} rw shared:1 - ext4 /dev/sda rw\n`),
  ),
  'mountinfo: one line of many fields': on(parseMountInfo, (size) => `1 1 8:1 / ${repeated(size, '\\040 - ')}`),
  'cgroup counters': on(parseCounters, (size) => repeated(size, (i) => `name${i} ${i}\n`)),
  'cgroup counters: one line': on(parseCounters, of('a ')),
  'cgroup paths': on(parseCgroupPaths, (size) => repeated(size, (i) => `${i}:a,b:/x\n`)),
  'cgroup paths: one line': on(parseCgroupPaths, (size) => `1:${repeated(size, ',')}`),
  pressure: on(parsePressure, (size) => `some ${repeated(size, (i) => `avg${i}=1 `)}`),
  disks: on(
    (text: string) => disksOfV2({ 'io.stat': text }),
    (size) => repeated(size, (i) => `8:${i} rbytes=1 wbytes=2\n`),
  ),
  'disks: one line': on(
    (text: string) => disksOfV2({ 'io.stat': text }),
    (size) => repeated(size, (i) => `8:${i} `),
  ),
  'disk names': on(parseDiskNames, (size) => repeated(size, (i) => `8 ${i} sd${i} 1\n`)),
  'network interfaces': on(
    (text) => parseInterfaces(text),
    (size) => repeated(size, (i) => `  if${i}: 1 2 3\n`),
  ),
  'network interfaces: one line of colons': on((text) => parseInterfaces(text), of('a:')),
  'network interfaces: spaces': on(
    (text) => parseInterfaces(text),
    (size) => `a${repeated(size, ' ')}`,
  ),
  'meminfo: one line of colons': on(parseMemInfo, of('a:')),
  'meminfo: empty lines': on(parseMemInfo, (size) => `a:${repeated(size, '\n')}`),
  'a process by many names': on(parseProcessStat, (size) => `1 (${repeated(size, ') (')}`),

  'docker config: registries': on(
    parseDockerConfigJson,
    (size) => `{"auths":{${separated(size, (i) => `"r${i}.example":{"auth":"YTpi"}`)}}}`,
  ),
  'docker config: one key again and again': on(parseDockerConfigJson, (size) => `{${separated(size, () => '"auths":{"a":{}}')}}`),
  'docker config: one registry in many spellings': on(
    keyring,
    (size) => `{"auths":{${separated(size, (i) => `"u${i}@registry.example":{"auth":"YTpi"}`)}}}`,
  ),
  'docker config: registries by pattern': on(keyring, (size) => `{"auths":{${separated(size, (i) => `"*${i}.example":{"auth":"YTpi"}`)}}}`),
  'docker config: credentials of many characters': on(parseDockercfg, (size) => `{"a":{"auth":"${repeated(size, 'YTpi')}"}}`),
  'docker config: credentials of line ends': on(parseDockercfg, (size) => `{"a":{"auth":"YT=${repeated(size, '\\n')}"}}`),
  'docker config: a helper for each registry': on(
    credentialHelpersOf,
    (size) => `{"credHelpers":{${separated(size, (i) => `"r${i}":"h${i}"`)}}}`,
  ),
  'docker config: a pattern of stars': on((text) => globMatches('*a'.repeat(20), text), of('a')),

  'kubeconfig: users': on(kubeconfig, (size) => `users:\n${repeated(size, (i) => `- {name: u${i}, user: {token: t}}\n`)}`),
  'kubeconfig: unknown fields': on(kubeconfig, (size) => repeated(size, (i) => `f${i}: 1\n`)),
  'kubeconfig: one field again and again': on(kubeconfig, of('users: []\n')),
  'kubeconfig: brackets within brackets': on(kubeconfig, (size) => `${repeated(size / 2, '[')}${repeated(size / 2, ']')}`),
  'kubeconfig: aliases': on(kubeconfig, (size) => `a: &a 1\nb: [${separated(size, () => '*a')}]`),
  'kubeconfig: anchors': on(kubeconfig, (size) => repeated(size, (i) => `f${i}: &a${i} 1\n`)),
  'kubeconfig: anchors and as many aliases': on(kubeconfig, (size) => repeated(size, (i) => `f${i}: &a${i} 1\ng${i}: *a${i}\n`)),
  'the config file: unknown fields': on(configFile, (size) => configHead + repeated(size, (i) => `f${i}: 1\n`)),
  'the config file: one field again and again': on(configFile, (size) => configHead + repeated(size, 'port: 1\n')),
  'the config file: faults': on(configFile, (size) => `${configHead}allowedUnsafeSysctls: [${separated(size, () => '1')}]`),
  'the config file: a map': on(configFile, (size) => `${configHead}systemReserved:\n${repeated(size, (i) => `  k${i}: v\n`)}`),
  'the config file: faults of a map': on(configFile, (size) => `${configHead}systemReserved:\n${repeated(size, (i) => `  k${i}: []\n`)}`),
  'the config file: syntax faults': on(configFile, (size) => configHead + repeated(size, '- a\n')),
  flags: on(
    (text) => parseFlags(text.split(' ')),
    (size) => repeated(size, '--v=2 '),
  ),
  'a flag of many values': on(
    (text) => parseFlags([text]),
    (size) => `--node-labels=${separated(size, (i) => `k${i}=v`)}`,
  ),
  'a flag that is given for each header': on(
    (text) => parseFlags(text.split(' ')),
    (size) => repeated(size, '--manifest-url-header=a:b ').trim(),
  ),
  'a flag that is given for each label': on(
    (text) => parseFlags(text.split(' ')),
    (size) => repeated(size, (i) => `--node-labels=k${i}=v `).trim(),
  ),
  'a flag of quotes': on(
    (text) => parseFlags([text]),
    (size) => `--cluster-dns=${repeated(size, ',"')}`,
  ),

  'a log of lines': on(logLine, (size) => repeated(size, dockerLine('hello'))),
  'a log of empty lines': on(logLine, of('\n')),
  'a log of one long line': on(logLine, (size) => dockerLine(repeated(size, 'x'))),
  'a log of one line of escapes': on(logLine, (size) => dockerLine(repeated(size, '\\u0041'))),
  'a log of lines in another shape': on(logLine, (size) => repeated(size, '{"stream":"stdout","log":"x","time":"2021-02-03T04:05:06Z"}\n')),
  'a log of lines from both streams': on(logLine, (size) =>
    repeated(size, (i) => dockerLine('x').replace('stdout', i % 2 === 0 ? 'stdout' : 'stderr')),
  ),
  "an engine's output in single bytes": (size) => {
    const frame = Buffer.concat([Buffer.of(1, 0, 0, 0, 0, 0, 0, 1), Buffer.from('x')]).toString('latin1');
    const text = repeated(size, frame);
    return () => {
      const take = demux(() => {});
      for (const chunk of cut(text, 1)) take(chunk);
    };
  },
  "an engine's complaint in single bytes": (size) => () => {
    const head = Buffer.of(3, 0, 0, 0, 0, 0, 0, 0);
    head.writeUInt32BE(size, 4);
    const take = demux(() => {});
    take(head);
    for (const chunk of cut(repeated(size, 'x'), 1)) take(chunk);
  },
  "an engine's JSON line in small chunks": on(
    async (text) => {
      for await (const object of jsonLines(asynchronously(cut(text, 64)))) plainFields(object);
    },
    (size) => `{"status":"${repeated(Math.min(size, 1_000_000), 'x')}"}\n`,
  ),
  "an engine's JSON lines in one chunk": on(async (text) => {
    for await (const object of jsonLines(asynchronously([Buffer.from(text)]))) plainFields(object);
  }, of('{"status":"x"}\n')),
  'a port label': on(readPortsLabel, (size) => `[${separated(size, () => '{"containerPort":1}')}]`),

  'a watch event in small chunks': (size) => {
    const line = `${repeated(size, 'x')}\n`;
    return () => {
      const lines = new LineDecoder(size * 2);
      for (const chunk of cut(line, 16)) lines.push(chunk);
    };
  },
  'watch events in one chunk': (size) => {
    const chunk = Buffer.from(repeated(size, '{}\n'));
    return () => new LineDecoder(size).push(chunk);
  },
  'a pod of the API server with many containers': (size) => {
    const containers = Array.from({ length: size / 50 }, (_, i) => ({ name: `c${i}`, image: 'b' }));
    return () => readApiPod({ metadata: { name: 'a', namespace: 'b', uid: 'c' }, spec: { containers } });
  },
  'addresses of a CNI result': (size) => {
    const ips = Array.from({ length: size / 20 }, () => ({ address: 'x/24' }));
    return () => resultAddresses({ ips });
  },
  'a CNI network of many plugins': on(parseConfList, (size) => `{"name":"a","plugins":[${separated(size, () => '{"type":"x"}')}]}`),

  'a PEM bundle of beginnings': on(pemBlocks, of('-----BEGIN A-----\n')),
  'a PEM bundle of blocks that end as others': on(pemBlocks, of('-----BEGIN A-----\nxx\n-----END B-----\n')),
  'a PEM bundle of blocks': on(pemBlocks, of('-----BEGIN A-----\nxx\n-----END A-----\n')),
  'a PEM bundle of dashes': on(pemBlocks, of('-')),
  'a PEM label without its end': on(pemBlocks, (size) => `-----BEGIN ${repeated(size, 'A')}`),
  'a PEM bundle of certificates that are none': on(
    (text) => parseClientIdentity({ text, where: 'a' }, { text, where: 'a' }),
    of('-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----\n'),
  ),

  'a request path of slashes': on(query, of('/')),
  'a request path of dots': on(query, of('/..')),
  'a request path of escapes': on(query, (size) => `/${repeated(size, '%41')}`),
  'a query of many values': on(query, (size) => `/a?${repeated(size, 'tailLines=1&')}`),
  'a query of ampersands': on(query, (size) => `/a?${repeated(size, '&')}`),
  'a request path of numbers': on(query, (size) => `/${repeated(size, '#')}`),
  'an Authorization header of spaces': on(authorization, (size) => `Bearer${repeated(size, ' ')}x`),
  'a Sec-WebSocket-Protocol header of commas': on(protocols, of(',')),
  'a Sec-WebSocket-Protocol header of tokens': on(protocols, of('base64url.bearer.authorization.k8s.io.YQ,')),
  'a Sec-WebSocket-Protocol header of spaces': on(protocols, (size) => `a${repeated(size, ' ')}b`),
  'a Connection header': on((text) => webSocketToken({ connection: text, upgrade: 'websocket' }), of('upgrade')),

  'SPDY frames': (size) => {
    const frame = Buffer.concat([Buffer.of(0, 0, 0, 1, 0, 0, 0, 1), Buffer.from('x')]);
    const chunk = Buffer.from(repeated(size, frame.toString('latin1')), 'latin1');
    return () => spdyFrames([chunk]);
  },
  'SPDY frames in single bytes': (size) => {
    const frame = Buffer.concat([Buffer.of(0x80, 3, 0, 6, 0, 0, 0, 4), Buffer.alloc(4)]);
    const text = repeated(size, frame.toString('latin1'));
    return () => spdyFrames(cutLatin1(text));
  },
  'a long SPDY control frame in single bytes': (size) => {
    const length = Math.min(size, 60_000);
    const text = Buffer.concat([Buffer.of(0x80, 3, 0, 6, 0, 0, length >> 8, length & 0xff), Buffer.alloc(length)]).toString('latin1');
    return () => spdyFrames(cutLatin1(text.repeat(Math.ceil(size / text.length))));
  },
  'SPDY headers': (size) => {
    const blocks = Math.ceil(size / 1000);
    return async () => {
      const packer = new HeaderPacker();
      const inflater = new HeaderInflater();
      for (let i = 0; i < blocks; i++) {
        await inflater.decode(packer.encode(new Map(Array.from({ length: 50 }, (_, n) => [`name-${n}`, 'value']))));
      }
      inflater.close();
    };
  },
  'terminal sizes': on((text) => new ResizeDecoder().push(Buffer.from(text)), of('{"Width":1,"Height":1}')),
  'terminal sizes in single bytes': on((text) => {
    const decoder = new ResizeDecoder();
    for (const chunk of cut(text, 1)) decoder.push(chunk);
  }, of('{"Width":1,"Height":1}')),
  'a gRPC answer of many fields': (size) => {
    const message = Buffer.from(repeated(size, '\x08\x01'));
    return () => healthCheckStatus(message);
  },
  'a URL of a probe': on(parseGoUrl, (size) => `http://a/${repeated(size, '%41/')}`),
  'a URL of a probe with a long host': on(parseGoUrl, (size) => `http://${repeated(size, 'a:')}`),
  'a URL of a probe with many brackets': on(parseGoUrl, (size) => `http://${repeated(size, '[')}`),
  'a log field': on((text) => plainFields({ text }), of('//a:b@')),
  'a log field of keys': on((text) => plainFields({ [text]: 1 }), of('aA')),
};

function cutLatin1(text: string): Iterable<Buffer> {
  const whole = Buffer.from(text, 'latin1');
  return Array.from(whole, (_, at) => whole.subarray(at, at + 1));
}

async function* asynchronously(chunks: Iterable<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks;
}

describe('reading what comes from outside', () => {
  for (const [name, attack] of Object.entries(attacks)) {
    it(`takes no more than linear time for ${name}`, () => assertGrowsLinearly(attack, { to: ATTACK_BYTES }));
  }
});
