import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { anImage, imageFor } from '../../builders/an-image.ts';
import { ScriptedRegistry } from '../../fakes/scripted-registry.ts';
import { app, pod, stays } from '../agent/pod-specs.ts';
import { type ExplainingAgent, explainingAgent } from './explaining-agent.ts';
import { moreSickPods } from './more-sick-pods.ts';
import { type SickPod, sickPods, type SickWorld } from './sick-pods.ts';

/**
 * Side by side, as most only wait for an engine or a probe. Who waits for a cause asks again and again, which asks the engine, and what crashes
 * starts again and again: of all at once, its answers would take longer than anybody waits.
 */
const AT_A_TIME = 12;

const seen: string[] = [];

/** A registry whose repositories are sick, each in its way. */
async function sickRegistry(): Promise<ScriptedRegistry> {
  const registry = await ScriptedRegistry.start();
  const fails = (status: number, code: string, message: string) => ({ manifestFails: { status, code, message } });
  const image = anImage([Buffer.from('no program')]);
  registry.serve('test/closed', '1', image, fails(401, 'UNAUTHORIZED', 'authentication required'));
  registry.serve('test/limited', '1', image, fails(429, 'TOOMANYREQUESTS', 'you have reached your pull rate limit'));
  registry.serve('test/broken', '1', image, fails(500, 'UNKNOWN', 'the disk is full'));
  registry.serve('test/idle', '1', anImage([Buffer.from('a file')], { Cmd: [] }));
  registry.serve('test/user', '1', anImage([Buffer.from('a file')], { Cmd: ['/file-0'], User: 'nobody-here' }));
  registry.serve('test/other', '1', imageFor('riscv64'));
  registry.serve('test/slow', '1', anImage([randomBytes(4_000_000)]), { trickle: { bytes: 10_000, everyMs: 100 } });
  return registry;
}

describe('the first three lines of rxlet explain name the true cause', { timeout: 900_000, concurrency: AT_A_TIME }, () => {
  let explaining: ExplainingAgent;
  let pods: Readonly<Record<string, SickPod>>;
  const disposals: (() => Promise<unknown>)[] = [];
  before(async () => {
    const registry = await sickRegistry();
    disposals.unshift(() => registry.close());
    const taken = createServer().listen(0, '0.0.0.0');
    await once(taken, 'listening');
    disposals.unshift(async () => void taken.close());
    explaining = await explainingAgent({ after: (dispose) => void disposals.unshift(dispose) }, '--serialize-image-pulls=false');
    const { agent, says } = explaining;
    const isUp: SickWorld['isUp'] = (name) => says(name, /is as declared \(Running/);
    const holders: ChildProcess[] = [];
    disposals.unshift(async () => holders.forEach((each) => each.kill('SIGKILL')));
    const hold: SickWorld['hold'] = async (name, volume) => {
      await isUp(name);
      const { app: container } = await agent.up(name);
      const path = join(agent.rootDir, 'pods', container?.uid ?? '', 'volumes', 'kubernetes.io~empty-dir', volume);
      await readdir(path);
      holders.push(spawn('sleep', ['600'], { cwd: path, stdio: 'ignore' }));
    };
    const world: SickWorld = { registry, agent, isUp, takenPort: (taken.address() as AddressInfo).port, hold };
    pods = { ...sickPods(world), ...moreSickPods(world) };
    for (const [name, { files }] of Object.entries(pods))
      for (const [file, text] of Object.entries(files ?? {})) await agent.write(`${name}-${file}`, text);
  });
  after(async () => {
    for (const dispose of disposals) await dispose();
    if (process.env['RXLET_TEST_SHOW']) console.log(seen.join('\n\n'));
  });

  for (const name of Object.keys({ ...sickPods(), ...moreSickPods() }))
    test(name, async () => {
      const sick = pods[name];
      assert.ok(sick);
      if (sick.spec) await explaining.agent.declare(name, sick.spec);
      await sick.befalls?.(name);
      const text = await explaining.says(sick.ask ?? name, sick.says);
      seen.push(`## ${name}\n${process.env['RXLET_TEST_SHOW'] === 'all' ? text : text.split('\n').slice(0, 3).join('\n')}`);
      assert.ok(
        text.split('\n').every((line) => line.length <= 80),
        text,
      );
      // What was explained leaves the engine to the others.
      for (const file of [name, `${name}-too`]) await rm(join(explaining.agent.manifests, `${file}.yaml`), { force: true });
    });

  test('a pod that is well', async () => {
    await explaining.agent.declare('well', pod([app(stays)]));
    await explaining.says('well', /is as declared \(Running/);
  });
});
