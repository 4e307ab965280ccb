import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstValueFrom, NEVER, Subject } from 'rxjs';
import { silentLogger } from '../../../../src/base/logger.ts';
import { ImageService, RuntimeService } from '../../../../src/engines/cri/api/runtime_pb.js';
import { criEngine } from '../../../../src/engines/cri/engine.ts';
import { runServices } from '../../../builders/node-parts.ts';
import { someCgroups, someMemory } from '../../../builders/some-cgroups.ts';
import { someLive, someOptions } from '../../../builders/some-options.ts';
import { CriServer } from '../../../fakes/cri-server.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { RecordedHappenings } from '../../../fakes/recorded-happenings.ts';

const { signal } = new AbortController();

class ClockOfSleepers extends FakeClock {
  readonly sleeps = new Subject<number>();

  override sleep(ms: number, until?: AbortSignal): Promise<void> {
    this.sleeps.next(ms);
    return super.sleep(ms, until);
  }
}

test(
  'containerLogMaxWorkers logs are rotated at a time, each containerLogMonitorInterval: as both are by then',
  { timeout: 30_000 },
  async (t) => {
    const cri = await CriServer.listen();
    const options = someOptions({ podLogsDir: '/nonexistent/pods', containerLogMaxWorkers: 2, containerLogMonitorIntervalMs: 30_000 });
    const live = someLive(options);
    const clock = new ClockOfSleepers();
    const engine = criEngine({ endpoint: cri.endpoint, name: 'containerd' }, options, {
      live,
      clock,
      log: silentLogger,
      random: () => 0.5,
      cgroups: someCgroups,
      memory: someMemory,
      tell: new RecordedHappenings().tell,
    });
    const rotating: (() => void)[] = [];
    cri.answer(RuntimeService.method.listContainers, () => ({ containers: ['a', 'b', 'c', 'd'].map((id) => ({ id })) }));
    cri.answer(RuntimeService.method.containerStatus, ({ containerId }) => ({ status: { logPath: `/nonexistent/pods/${containerId}` } }));
    // A log that is not there is begun by this call alone.
    cri.on(RuntimeService.method.reopenContainerLog, ({ send, end }) => {
      rotating.push(() => {
        send({});
        end();
      });
    });
    cri.answer(ImageService.method.listImages, () => ({}));
    const running = runServices(engine.services({ relists: NEVER }).filter(({ name }) => name === 'log rotation'));
    t.after(async () => {
      await running.stop();
      engine.close();
      await cri[Symbol.asyncDispose]();
    });

    /** Ends all four, of which `workers` are asked for at a time. Resolves with how long the logs are left alone then. */
    const rotatedBy = async (workers: number): Promise<number> => {
      const sleep = firstValueFrom(clock.sleeps);
      for (let left = 4; left > 0;) {
        while (rotating.length < Math.min(workers, left)) await firstValueFrom(cri.calls);
        // Comes after all that was asked for before it, on the same connection.
        await engine.images.listImages(signal);
        assert.equal(rotating.length, Math.min(workers, left));
        left -= rotating.length;
        for (const finish of rotating.splice(0)) finish();
      }
      return sleep;
    };
    assert.equal(await rotatedBy(2), 30_000);
    live.set(someOptions({ ...options, containerLogMaxWorkers: 3, containerLogMonitorIntervalMs: 5_000 }));
    await clock.advance(30_000);
    assert.equal(await rotatedBy(3), 5_000);
  },
);
