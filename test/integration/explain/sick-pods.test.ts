import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ScriptedRegistry } from '../../fakes/scripted-registry.ts';
import { app, pod, stays } from '../agent/pod-specs.ts';
import { firstThree, type ExplainingAgent, explainingAgent } from './explaining-agent.ts';
import { sickPods } from './sick-pods.ts';

const seen: string[] = [];

describe('the first three lines of rxlet explain name the true cause', { timeout: 180_000, concurrency: true }, () => {
  let explaining: ExplainingAgent;
  let registry: ScriptedRegistry;
  const disposals: (() => Promise<void>)[] = [];
  before(async () => {
    registry = await ScriptedRegistry.start();
    explaining = await explainingAgent({ after: (dispose) => void disposals.unshift(dispose) });
    for (const [name, { files }] of Object.entries(sickPods(registry, explaining.agent)))
      for (const [file, text] of Object.entries(files ?? {})) await explaining.agent.write(`${name}-${file}`, text);
  });
  after(async () => {
    for (const dispose of disposals) await dispose();
    await registry.close();
    if (process.env['RXLET_TEST_SHOW']) console.log(seen.join('\n\n'));
  });

  for (const name of Object.keys(sickPods()))
    test(name, async () => {
      const sick = sickPods(registry, explaining.agent)[name];
      assert.ok(sick);
      if (sick.spec) await explaining.agent.declare(name, sick.spec, { metadata: sick.metadata ?? {} });
      await sick.befalls?.(name);
      const text = await explaining.says(name, sick.says, sick.ask);
      seen.push(`## ${name}\n${process.env['RXLET_TEST_SHOW'] === 'all' ? text : text.split('\n').slice(0, 3).join('\n')}`);
      assert.match(firstThree(text), sick.says);
      assert.ok(
        text.split('\n').every((line) => line.length <= 80),
        text,
      );
    });

  test('a pod that is well', async () => {
    await explaining.agent.declare('well', pod([app(stays)]));
    await explaining.says('well', /is as declared \(Running/);
  });
});
