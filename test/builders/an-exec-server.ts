import assert from 'node:assert/strict';
import { silentLogger } from '../../src/base/logger.ts';
import { serveExec } from '../../src/server/streaming/serve-remote-command.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { FakeSession } from '../fakes/fake-session.ts';
import { StreamingServer } from './a-streaming-server.ts';

export interface ExecServerOptions {
  readonly idleTimeoutMs: number;
  readonly serve?: typeof serveExec;
  /** What opening a session fails with. */
  readonly refuse?: Error | undefined;
  /** In place of the client's going. */
  readonly stop?: AbortSignal | undefined;
}

/** Serves exec, or attach, on sessions that the test plays. Everything that lives on its clock is over when it is. */
export async function execServer({ idleTimeoutMs, serve = serveExec, refuse, stop }: ExecServerOptions) {
  const clock = new FakeClock();
  const opened = Promise.withResolvers<FakeSession>();
  const server = await StreamingServer.start((request, socket, head) =>
    serve({ ...request, signal: stop ?? request.signal }, socket, head, {
      open: (wanted, signal) => {
        const session = new FakeSession(wanted, signal);
        opened.resolve(session);
        return refuse === undefined ? Promise.resolve(session) : Promise.reject(refuse);
      },
      idleTimeoutMs,
      streamCreationTimeoutMs: 30_000,
      clock,
      log: silentLogger,
    }),
  );
  return {
    clock,
    server,
    session: opened.promise,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      assert.equal(clock.actions.length, 0, 'no timer is left');
    },
  };
}
