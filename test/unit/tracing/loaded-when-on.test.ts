import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const hook = resolve(import.meta.dirname, '../../builders/loaded-modules.ts');
const start = resolve(import.meta.dirname, '../../../src/start.ts');

/** Runs an agent once, and resolves with the modules that it has loaded. */
async function modulesOf(directory: string, config: string): Promise<readonly string[]> {
  const [file, list, manifests] = [join(directory, 'config.yaml'), join(directory, 'modules'), join(directory, 'manifests')];
  await mkdir(manifests, { recursive: true });
  await writeFile(file, `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${config}`);
  const flags = [`--config=${file}`, `--root-dir=${join(directory, 'root')}`, `--pod-manifest-path=${manifests}`];
  await promisify(execFile)(
    process.execPath,
    ['--import', hook, start, '--docker-endpoint=fake://', '--runonce', '--cgroups-per-qos=false', '--enforce-node-allocatable=', ...flags],
    {
      env: { ...process.env, LOADED_MODULES: list },
      timeout: 60_000,
    },
  );
  return (await readFile(list, 'utf8')).split('\n');
}

test('nothing of tracing is loaded but where it is asked for', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'loaded-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const isOfTracing = (url: string): boolean => url.includes('/src/tracing/');
  const without = await modulesOf(directory, 'maxPods: 10\n');
  assert.ok(without.length > 200, `only ${without.length} modules were seen`);
  assert.deepEqual(without.filter(isOfTracing), []);
  const withIt = await modulesOf(directory, 'tracing: {samplingRatePerMillion: 1000000, endpoint: "unix:///nonexistent/otel.sock"}\n');
  assert.ok(withIt.filter(isOfTracing).length > 5);
});
