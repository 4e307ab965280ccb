import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadOptions, OptionsError } from '../../../src/options/load-options.ts';
import { imageEndpoint, namedEngine } from '../../../src/options/named-engine.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const load = (argv: readonly string[], endpoint?: string, more = '') => {
  const text = `${endpoint === undefined ? head : `${head}containerRuntimeEndpoint: ${endpoint}\n`}${more}`;
  return loadOptions(['--config=x', ...argv], { hostname: 'n1', terminal: false, readFile: () => Promise.resolve(text) });
};
const runtimeOption = 'containerRuntimeEndpoint (--container-runtime-endpoint)';

describe('which engine is driven is said by the options:', () => {
  for (const [name, argv, endpoint, named] of [
    ['none', [], undefined, { kind: 'none' }],
    ['none, where nothing is meant', ['--container-runtime-endpoint='], '""', { kind: 'none' }],
    [
      'what the file names',
      [],
      'unix:///run/containerd/containerd.sock',
      { kind: 'any', endpoint: 'unix:///run/containerd/containerd.sock', option: runtimeOption },
    ],
    [
      'a path alone',
      ['--container-runtime-endpoint=/run/crio/crio.sock'],
      undefined,
      { kind: 'any', endpoint: 'unix:///run/crio/crio.sock', option: runtimeOption },
    ],
    [
      'the flag over the file',
      ['--container-runtime-endpoint=tcp://127.0.0.1:2375'],
      'npipe:x',
      { kind: 'any', endpoint: 'tcp://127.0.0.1:2375', option: runtimeOption },
    ],
    [
      'the engine behind a shim',
      [],
      'unix:///var/run/cri-dockerd.sock',
      { kind: 'docker', endpoint: 'unix:///var/run/docker.sock', option: runtimeOption },
    ],
    [
      '--docker-endpoint before all',
      ['--docker-endpoint=unix:///a/docker.sock', '--container-runtime-endpoint=unix:///b.sock'],
      'unix:///c.sock',
      { kind: 'docker', endpoint: 'unix:///a/docker.sock', option: '--docker-endpoint' },
    ],
    ['the embedded one', ['--docker-endpoint=fake://'], undefined, { kind: 'embedded', endpoint: 'fake://' }],
  ] as const) {
    test(name, async () => assert.deepEqual(namedEngine((await load(argv, endpoint)).options), named));
  }
});

describe('what is no endpoint is refused:', () => {
  for (const [name, argv, endpoint, fault] of [
    ['of the file', [], 'npipe:x', '"npipe:x": expected unix:///PATH or tcp://HOST:PORT'],
    [
      'a port that is none',
      ['--container-runtime-endpoint=tcp://h:70000'],
      undefined,
      '"tcp://h:70000": expected unix:///PATH or tcp://HOST:PORT',
    ],
    [
      'a path of 10,000 characters',
      [`--container-runtime-endpoint=unix:///${'a'.repeat(9_999)}`],
      undefined,
      `"unix:///${'a'.repeat(92)}…": a socket's path has at most 107 bytes, this one has 10000`,
    ],
  ] as const) {
    test(name, () =>
      assert.rejects(
        load(argv, endpoint),
        new OptionsError([`${endpoint === undefined ? '' : 'x:3:27 '}invalid configuration: ${runtimeOption} ${fault}`]),
      ),
    );
  }

  test('a path of as many bytes as fit is taken', async () => {
    const endpoint = `unix:///${'a'.repeat(106)}`;
    assert.deepEqual(namedEngine((await load([`--container-runtime-endpoint=${endpoint}`])).options), {
      kind: 'any',
      endpoint,
      option: runtimeOption,
    });
    await assert.rejects(load([`--container-runtime-endpoint=${endpoint}a`]), OptionsError);
  });
});

describe('where --docker-endpoint says which engine to take, there is one warning', () => {
  for (const [name, argv, endpoint, option] of [
    ['for the file', [], 'unix:///run/containerd/containerd.sock', 'containerRuntimeEndpoint'],
    ['for a flag', ['--container-runtime-endpoint=unix:///run/c.sock'], undefined, '--container-runtime-endpoint'],
    ['for both', ['--container-runtime-endpoint=unix:///run/c.sock'], 'unix:///run/c.sock', '--container-runtime-endpoint'],
    ['for what is no endpoint', ['--container-runtime-endpoint=npipe:x'], undefined, '--container-runtime-endpoint'],
  ] as const) {
    test(name, async () => {
      const { options, warnings } = await load(['--docker-endpoint=tcp://127.0.0.1:2375', ...argv], endpoint);
      assert.equal(options.dockerEndpoint, 'tcp://127.0.0.1:2375');
      assert.deepEqual(warnings, [{ message: 'container runtime is passed over for the engine of --docker-endpoint', option }]);
    });
  }

  for (const [name, endpoint] of [
    ['none for the same one', 'unix:///a/docker.sock'],
    ['none for a shim before it', 'unix:///var/run/dockershim.sock'],
  ] as const) {
    test(name, async () => assert.deepEqual((await load(['--docker-endpoint=unix:///a/docker.sock'], endpoint)).warnings, []));
  }
});

describe('the images', () => {
  const inFile = 'imageServiceEndpoint: unix:///run/images.sock\n';

  for (const [name, argv, more, endpoint] of [
    ["are the engine's own where nothing else is said", [], '', ''],
    ['are where the file says', [], inFile, 'unix:///run/images.sock'],
    ['are where the flag says, a path alone', ['--image-service-endpoint=/run/i.sock'], inFile, 'unix:///run/i.sock'],
  ] as const) {
    test(name, async () => {
      const { options, warnings } = await load(argv, undefined, more);
      assert.equal(imageEndpoint(options), endpoint);
      assert.deepEqual(warnings, []);
    });
  }

  for (const endpoint of ['npipe:x', 'tcp://127.0.0.1:1']) {
    test(`are not at ${endpoint}`, async () => {
      const refused = load([`--image-service-endpoint=${endpoint}`]);
      await assert.rejects(refused, (error) => {
        assert.match(String(error), /imageServiceEndpoint \(--image-service-endpoint\) "[^"]+": expected unix:\/\/\/PATH$/m);
        return true;
      });
    });
  }

  test('of a Docker engine are its own: another endpoint is passed over with a warning', async () => {
    const { warnings } = await load(['--docker-endpoint=unix:///a/docker.sock'], undefined, inFile);
    const message = 'image service is passed over for the images of the engine of --docker-endpoint';
    assert.deepEqual(warnings, [{ message, option: 'imageServiceEndpoint' }]);
  });
});
