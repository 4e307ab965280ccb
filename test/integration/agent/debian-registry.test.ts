import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { DebianRegistry } from '../../fakes/debian-registry.ts';
import { TcpProxy } from '../../fakes/tcp-proxy.ts';
import { AgentUnderTest } from './agent-under-test.ts';
import { aRunnableImage } from './a-runnable-image.ts';
import { app, pod, stays } from './pod-specs.ts';

describe("Debian's docker-registry", { timeout: 300_000 }, () => {
  const running = (image: string) => pod([app(stays, { image, imagePullPolicy: 'IfNotPresent' })]);
  const openRegistry = async (test: { after(dispose: () => Promise<void>): void }): Promise<DebianRegistry> => {
    const registry = await DebianRegistry.start();
    test.after(() => registry.stop());
    return registry;
  };
  const cleanUp = (test: { after(dispose: () => Promise<void>): void }, agent: AgentUnderTest, images: readonly string[]): void =>
    test.after(async () => {
      for (const image of images) await agent.engine.removeImage(image).catch(() => {});
    });

  test('that lacks an image (404), whose disk fails (500) or that hangs is quoted, and each pod comes up once it is well', async (t) => {
    const agent = await AgentUnderTest.start(t, '--image-pull-progress-deadline=2s', '--serialize-image-pulls=false');
    const [registry, frozen] = [await openRegistry(t), await openRegistry(t)];
    const image = await aRunnableImage();
    const absent = `${registry.host}/test/absent:1`;
    const spoilt = await registry.push('test/spoilt', '1', image);
    const hangs = await frozen.push('test/hangs', '1', image);
    cleanUp(t, agent, [absent, spoilt, hangs]);
    const { heal } = await registry.spoil('test/spoilt', '1');
    frozen.freeze();
    for (const [name, of] of Object.entries({ absent, spoilt, hangs })) await agent.declare(name, running(of));
    const failure = (of: string) =>
      agent.logged('the failure', ({ msg, image: which }) => msg === 'image pull failed' && which === of).then(({ err }) => String(err));
    assert.match(await failure(absent), /manifest unknown|not found/);
    assert.match(await failure(spoilt), /500 Internal Server Error|unknown error/);
    if (agent.engine.facts.tellsPullProgress) assert.match(await failure(hangs), /because of no progress for 2s/);
    await registry.push('test/absent', '1', image);
    await heal();
    frozen.thaw();
    for (const name of ['absent', 'spoilt', 'hangs']) await agent.up(name);
  });

  test('that is slow is waited for longer than the progress deadline, as long as something comes, and how far it is can be read', async (t) => {
    const agent = await AgentUnderTest.start(t, '--image-pull-progress-deadline=2s');
    const registry = await openRegistry(t);
    // Another one each time: an engine may still have the layers of an image that was removed.
    await registry.push('test/slow', '1', await aRunnableImage(`slow ${randomUUID()}`));
    const [, port] = registry.host.split(':');
    const proxy = await TcpProxy.start({ host: '127.0.0.1', port: Number(port) }, { bytes: 1 << 14, everyMs: 70 });
    t.after(() => proxy.stop());
    const image = `127.0.0.1:${proxy.port}/test/slow:1`;
    cleanUp(t, agent, [image]);
    await agent.declare('slow', running(image));
    const sinceMs = Date.now();
    await agent.up('slow');
    const tookMs = Date.now() - sinceMs;
    assert.ok(tookMs > 3_000, `${tookMs} ms`);
    assert.ok(!agent.lines.some(({ msg }) => msg === 'image pull failed'));
    const told = agent.lines.filter((line) => /pulling .*\d+ of \d+ layers|\d+(\.\d+)? of \d+(\.\d+)? [MK]i?B/.test(JSON.stringify(line)));
    assert.equal(told.length >= 2, agent.engine.facts.tellsPullProgress, `the trace tells ${told.length} times of the progress`);
  });

  test('is asked no more often than --registry-qps and --registry-burst allow; whoever is too early is told so and tries again', async (t) => {
    const agent = await AgentUnderTest.start(t, '--registry-qps=1', '--registry-burst=1', '--serialize-image-pulls=false');
    const registry = await openRegistry(t);
    const image = await aRunnableImage();
    const names = ['a', 'b'];
    const images = await Promise.all(names.map((name) => registry.push(`test/${name}`, '1', image)));
    cleanUp(t, agent, images);
    for (const [i, name] of names.entries()) await agent.write(`${name}.yaml`, agent.manifest(name, running(images[i] ?? '')));
    const refused = await agent.logged('a refusal', ({ msg, err }) => msg === 'image pull failed' && /pull QPS exceeded/.test(String(err)));
    assert.ok(images.includes(String(refused['image'])));
    for (const name of names) await agent.up(name);
  });

  test('serves as many images at once as --max-parallel-image-pulls allows', async (t) => {
    const agent = await AgentUnderTest.start(t, '--max-parallel-image-pulls=2');
    const registry = await openRegistry(t);
    const image = await aRunnableImage();
    const names = ['a', 'b', 'c'];
    const images = await Promise.all(names.map((name) => registry.push(`test/${name}`, '1', image)));
    cleanUp(t, agent, images);
    registry.freeze();
    for (const [i, name] of names.entries()) await agent.declare(name, running(images[i] ?? ''));
    await agent.logged('one waits', (line) => /pulling \S+: waiting for 2 other pulls/.test(JSON.stringify(line)));
    const waits = agent.lines
      .map((line) => /pulling (\S+): waiting/.exec(JSON.stringify(line))?.[1])
      .filter((image) => image !== undefined);
    assert.equal(new Set(waits).size, 1);
    registry.thaw();
    for (const name of names) await agent.up(name);
  });
});
