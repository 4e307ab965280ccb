import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadOptions, OptionsError } from '../../../src/options/load-options.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const load = (argv: readonly string[], endpoint?: string) => {
  const text = endpoint === undefined ? head : `${head}containerRuntimeEndpoint: ${endpoint}\n`;
  return loadOptions(['--config=x', ...argv], { hostname: 'n1', terminal: false, readFile: () => Promise.resolve(text) });
};
const refusal = (endpoint: string): string =>
  `invalid configuration: containerRuntimeEndpoint (--container-runtime-endpoint) "${endpoint}" is not what this agent drives, which is a Docker engine at unix:///PATH or tcp://HOST:PORT: say with --docker-endpoint which one to take`;

describe('a container runtime that this agent cannot drive is refused:', () => {
  for (const [name, argv, endpoint, refused] of [
    ['of the file', [], 'unix:///run/containerd/containerd.sock', 'unix:///run/containerd/containerd.sock'],
    ['of a flag', ['--container-runtime-endpoint=unix:///var/run/crio/crio.sock'], undefined, 'unix:///var/run/crio/crio.sock'],
    ['a path alone', ['--container-runtime-endpoint=/run/containerd/containerd.sock'], undefined, '/run/containerd/containerd.sock'],
    ['the flag over the file', ['--container-runtime-endpoint=npipe:x'], 'unix:///run/docker.sock', 'npipe:x'],
  ] as const) {
    test(name, () => assert.rejects(load(argv, endpoint), new OptionsError([refusal(refused)])));
  }
});

describe('where --docker-endpoint says which engine to take, there is one warning', () => {
  for (const [name, argv, endpoint, option] of [
    ['for the file', [], 'unix:///run/containerd/containerd.sock', 'containerRuntimeEndpoint'],
    ['for a flag', ['--container-runtime-endpoint=unix:///run/c.sock'], undefined, '--container-runtime-endpoint'],
    ['for both', ['--container-runtime-endpoint=unix:///run/c.sock'], 'unix:///run/c.sock', '--container-runtime-endpoint'],
  ] as const) {
    test(name, async () => {
      const { options, warnings } = await load(['--docker-endpoint=tcp://127.0.0.1:2375', ...argv], endpoint);
      assert.equal(options.dockerEndpoint, 'tcp://127.0.0.1:2375');
      assert.deepEqual(warnings, [{ message: 'container runtime is passed over for the engine of --docker-endpoint', option }]);
    });
  }
});

describe('nothing is said', () => {
  for (const [name, argv, endpoint, engine] of [
    ['where nothing is given', [], undefined, 'unix:///var/run/docker.sock'],
    ['where nothing is meant', ['--container-runtime-endpoint='], '""', 'unix:///var/run/docker.sock'],
    ['for the socket of an engine, which is driven', [], 'unix:///run/other/docker.sock', 'unix:///run/other/docker.sock'],
    ['for podman, which serves the same', [], 'unix:///run/podman/podman.sock', 'unix:///run/podman/podman.sock'],
    ['for a shim before the engine', [], 'unix:///var/run/cri-dockerd.sock', 'unix:///var/run/docker.sock'],
    ['for the engine of --docker-endpoint', ['--docker-endpoint=unix:///a/docker.sock'], 'unix:///a/docker.sock', 'unix:///a/docker.sock'],
  ] as const) {
    test(name, async () => {
      const { options, warnings } = await load(argv, endpoint);
      assert.deepEqual([options.dockerEndpoint, warnings], [engine, []]);
    });
  }
});
