import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { CriAgent } from './cri-agent.ts';

/** On a busy machine a command in a container takes a while. */
const often = { periodSeconds: 1, timeoutSeconds: 30 };

const probed = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'probed' },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'app',
        image: 'busybox:1.35',
        command: ['sh', '-c', 'mkdir /www; echo ok >/www/index.html; touch /ready; exec httpd -f -p 8000 -h /www'],
        readinessProbe: { exec: { command: ['cat', '/ready'] }, ...often },
        livenessProbe: { httpGet: { path: '/index.html', port: 8000 }, ...often },
        startupProbe: { exec: { command: ['/nonexistent'] }, ...often, failureThreshold: 1000 },
      },
      {
        name: 'side',
        image: 'busybox:1.35',
        command: ['sh', '-c', 'touch /ready; exec sleep 1000'],
        readinessProbe: { exec: { command: ['cat', '/ready'] }, ...often },
      },
    ],
  },
};

test(
  'the examples run on a runtime that speaks CRI: logs, exec, probes, a restart of the agent, and nothing is left',
  { timeout: 300_000 },
  async (t) => {
    const agent = await CriAgent.prepare(t);
    await agent.declareExamples();
    await agent.declare('probed.json', probed);
    agent.run('--v=4');
    for (const [pod, phase] of Object.entries({ web: 'Running', probed: 'Running', steps: 'Succeeded' })) await agent.phase(pod, phase);
    const crashing = await agent.until('crashing has started again', async () => {
      const status = (await agent.pods()).get('crashing')?.status?.containerStatuses?.[0];
      return status !== undefined && status.restartCount > 0 && status;
    });
    assert.deepEqual([crashing.lastState?.terminated?.exitCode, crashing.lastState?.terminated?.reason], [3, 'Error']);

    const web = (await agent.pods()).get('web')?.status;
    assert.match(web?.podIP ?? '', /^\d+\.\d+\.\d+\.\d+$/);
    assert.match(web?.containerStatuses?.[0]?.containerID ?? '', /^containerd:\/\/[0-9a-f]{64}$/);
    assert.match(web?.containerStatuses?.[0]?.imageID ?? '', /sha256:[0-9a-f]{64}$/);

    assert.match(
      await agent.cli('exec', `web-${agent.node}`, '-c', 'httpd', '--', 'wget', '-q', '-O', '-', 'http://127.0.0.1/'),
      /hello from web-/,
    );
    assert.equal(await agent.cli('logs', `steps-${agent.node}`, '-c', 'job'), 'work done\n');
    assert.equal(await agent.cli('logs', `crashing-${agent.node}`, '--previous'), 'this fails after 2 seconds\n');

    // The one is held up by its startup probe, whose command is not there; the other is ready.
    await agent.until('the sidecar is ready', async () => {
      const { containerStatuses = [] } = (await agent.pods()).get('probed')?.status ?? {};
      const [app, side] = containerStatuses;
      return side?.ready === true && app?.ready === false && app.started === false && app.restartCount === 0;
    });

    const running = (await agent.parts()).filter((part) => /(web|probed)-/.test(part));
    await agent.kill();
    const from = agent.lines.length;
    agent.run('--v=4');
    await agent.logged('that web was looked at', ({ msg, pod }) => msg === 'reconciled' && String(pod).includes('/web-'), from);
    assert.deepEqual(
      (await agent.parts()).filter((part) => /(web|probed)-/.test(part)),
      running,
    );

    for (const file of await readdir(agent.manifests)) await rm(join(agent.manifests, file));
    await agent.until('the runtime has nothing of the pods', async () => (await agent.parts()).length === 0);
    await agent.until('nothing of them is left', async () => (await agent.traces()).length === 0);
  },
);
