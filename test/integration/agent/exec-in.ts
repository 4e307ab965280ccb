import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { systemClock } from '../../../src/base/clock.ts';
import { RuntimeService } from '../../../src/engines/cri/api/runtime_pb.js';
import { openCriClient } from '../../../src/engines/cri/client/cri-client.ts';
import { testEndpoint } from '../../builders/docker-under-test.ts';
import { criEndpoint, engineOfTests } from '../../builders/engine-of-tests.ts';

const CALL_MS = 120_000;

/** What a command in a container prints, past the agent. Rejects where it fails, with what it said. */
export async function execIn(id: string, ...command: readonly string[]): Promise<string> {
  switch (engineOfTests) {
    case 'docker':
      return (await promisify(execFile)('docker', ['--host', testEndpoint, 'exec', id, ...command])).stdout;
    case 'cri':
      return execByCri(id, command);
    default:
      return engineOfTests satisfies never;
  }
}

export const inside = async (id: string, script: string): Promise<string> => (await execIn(id, 'sh', '-c', script)).trim();

async function execByCri(containerId: string, command: readonly string[]): Promise<string> {
  const endpoint = criEndpoint();
  const tell = { engineCalled: () => {} };
  const client = openCriClient({ endpoint, clock: systemClock, random: Math.random, requestTimeoutMs: CALL_MS, tell });
  try {
    const asked = { containerId, cmd: [...command] };
    const { stdout, stderr, exitCode } = await client.call(RuntimeService.method.execSync, asked, AbortSignal.timeout(CALL_MS));
    if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${exitCode}: ${Buffer.from(stderr).toString()}`);
    return Buffer.from(stdout).toString();
  } finally {
    client.close();
  }
}
