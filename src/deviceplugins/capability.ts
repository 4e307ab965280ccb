import { existsSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Subject } from 'rxjs';
import { aborted } from '../base/aborted.ts';
import { serveGrpcSocket } from '../base/grpc/grpc-socket.ts';
import { checkFree } from '../base/listen-on-socket.ts';
import { makeDirectory } from '../base/make-directory.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { DevicePluginsNeeds, OpenDevicePlugins } from './open-device-plugins.ts';

const SOCKET = 'kubelet.sock';
/** Read by plugins of the machine's administrator alone. */
const SOCKET_MODE = 0o660;
const DIRECTORY_MODE = 0o750;

/**
 * Devices of plugins that register at device-plugins/kubelet.sock, or by a socket in plugins_registry (pkg/kubelet/cm/devicemanager): containers
 * that ask for them have them for themselves. Until there is a plugin, and where there was none, there is the socket alone.
 */
export async function capability(needs: Omit<DevicePluginsNeeds, 'onChange' | 'makeDirectory'>): Promise<Contribution> {
  const { options, clock, log, pods } = needs;
  // As in open-device-plugins.ts: a file of names for both would be one more that each start loads.
  const directory = join(options.rootDir, 'device-plugins');
  const changes = new Subject<void>();
  const makeOwn = (): Promise<void> => makeDirectory(directory, DIRECTORY_MODE);
  let opened: OpenDevicePlugins | undefined;
  const open = async (): Promise<OpenDevicePlugins> => {
    const { openDevicePlugins } = await import('./open-device-plugins.ts');
    return (opened ??= openDevicePlugins({ ...needs, onChange: () => changes.next(), makeDirectory: makeOwn }));
  };
  if (existsSync(join(directory, 'kubelet_internal_checkpoint'))) await open();

  let listens = true;
  const tried = Promise.withResolvers<void>();
  return {
    pod: {
      admit: async (pod, _others, signal) => opened?.manager.admit(pod, signal),
      wouldAdmit: async (pod) => opened?.manager.wouldAdmit(pod),
      container: async (pod, container, { env }, signal) => opened?.manager.additions(pod, container, env, signal) ?? {},
      resourceHealth: (uid) => opened?.health(uid),
      tearDown: async (uid) => opened?.manager.release(uid),
      release: async (uid) => opened?.manager.release(uid),
    },
    node: {
      resources: () => opened?.resources() ?? {},
      unusable: () => opened?.unusable() ?? {},
      health: () => [
        {
          name: 'device-plugin',
          ...(!listens && { error: 'device plugin registration gRPC server failed and no device plugins can register' }),
        },
      ],
      changes,
    },
    hints: {
      hints: (pod, container) => opened?.hints.hints(pod, container) ?? new Map(),
      podHints: (pod) => opened?.hints.podHints(pod) ?? new Map(),
      allocate: async (pod, container, hint, signal) => opened?.hints.allocate(pod, container, hint, signal),
    },
    assigned: {
      devices: (uid, container) => opened?.devices(uid, container) ?? [],
      allocatableDevices: () => opened?.allocatableDevices() ?? [],
    },
    plugins: [
      {
        type: 'DevicePlugin',
        register: async (plugin, signal) => (await open()).register(plugin, signal),
        deregister: async (plugin) => opened?.deregister(plugin),
      },
    ],
    services: [
      {
        name: 'device plugins',
        stage: 'before pods',
        run: async (signal) => {
          try {
            await serveGrpcSocket(
              {
                path: join(directory, SOCKET),
                mode: SOCKET_MODE,
                prepare: async () => {
                  await makeOwn();
                  // Of another agent that runs, plugins are that one's.
                  await checkFree(join(directory, SOCKET));
                  await removeSockets(directory);
                },
                load: async () => (await open()).server(),
                clock,
                log,
                onTried: (does) => {
                  listens = does;
                  if (does) log.v(2, 'device plugins register at this socket', { path: join(directory, SOCKET) });
                  tried.resolve();
                },
              },
              signal,
            );
          } finally {
            await opened?.close();
          }
        },
        ready: (signal) => Promise.race([tried.promise, aborted(signal)]),
      },
      {
        name: 'devices of pods that are gone',
        stage: 'before pods',
        run: async (signal) => {
          await unlessAborted(pods.syncedOnce, signal).catch(() => {});
          if (!signal.aborted) await opened?.releaseGone();
          await aborted(signal);
        },
      },
    ],
  };
}

/** Sockets of before: plugins see that theirs is gone, and register again (CleanupPluginDirectory). */
async function removeSockets(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    // What listens on the own one is found out when it is taken.
    if (name !== SOCKET && (await lstat(path)).isSocket()) await rm(path, { force: true });
  }
}
