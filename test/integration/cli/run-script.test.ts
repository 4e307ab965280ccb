import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { testEndpoint } from '../../builders/docker-under-test.ts';
import { claimEngine } from '../agent/agent-under-test.ts';
import { freePort } from '../agent/free-port.ts';
import { stays } from '../agent/pod-specs.ts';

const checkout = resolve(import.meta.dirname, '../../..');
const env = { ...process.env, DOCKER_HOST: testEndpoint };
const pod = `run-${process.pid}`;
const manifest = stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: pod },
  spec: { containers: [{ name: 'app', image: 'busybox:1.35', command: ['sh', '-c', stays] }] },
});

/** Runs hack/run.sh on a directory with one pod until it has told what runs, and then Ctrl-C. */
async function run(t: TestContext, ...flags: readonly string[]): Promise<string> {
  const scratch = await mkdtemp(join(tmpdir(), 'rxlet-run-'));
  t.after(() => rm(scratch, { recursive: true }));
  const [manifests, root] = [join(scratch, 'manifests'), join(scratch, 'root')];
  await mkdir(manifests);
  await writeFile(join(manifests, 'pod.yaml'), manifest);
  const port = await freePort();
  const own = ['--', `--port=${port}`, `--healthz-port=${await freePort(port)}`, '--log-format=json'];
  const script = spawn('hack/run.sh', [...flags, '--manifests', manifests, '--root-dir', root, ...own], {
    cwd: checkout,
    env,
    // Ctrl-C reaches the whole group.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => script.kill());
  const closed = once(script, 'close');
  const lines: string[] = [];
  createInterface(script.stderr).on('line', (line) => {
    lines.push(line);
    if (line.startsWith("read a pod's log:") && script.pid !== undefined) process.kill(-script.pid, 'SIGINT');
  });
  assert.deepEqual(await closed, [0, null], lines.join('\n'));
  assert.deepEqual((await readdir(join(root, 'pki'))).sort(), ['kubelet.crt', 'kubelet.key']);
  return lines.join('\n');
}

test('hack/run.sh --engine fake plays the pods of a directory, keeps all it has in the root directory, and ends with Ctrl-C', async (t) => {
  const output = await run(t, '--engine', 'fake');
  assert.match(output, new RegExp(`^default +${pod}-\\S+ +1/1 +Running`, 'm'));
});

test('hack/run.sh runs them on the engine that answers and says which; they go on after Ctrl-C, until --clean', async (t) => {
  await claimEngine();
  const output = await run(t);
  assert.match(output, new RegExp(`^default +${pod}-\\S+ +1/1 +Running`, 'm'));
  const docker = async (...args: readonly string[]): Promise<string> => (await promisify(execFile)('docker', args, { env })).stdout;
  const running = (): Promise<string> => docker('ps', '--filter', `name=k8s_app_${pod}-`, '--format', '{{.State}}');
  assert.equal(await running(), 'running\n');
  await promisify(execFile)('hack/run.sh', ['--clean'], { cwd: checkout, env });
  assert.equal(await docker('ps', '-aq', '--filter', `name=_${pod}-`), '');
});
