import { Transform } from 'node:stream';
import type { ContainerInfo } from 'dockerode';
import { anySignal } from '../../../base/any-signal.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { deleteContainer } from '../containers/remove-container.ts';

/** On the containers of an export, which never run: the directory that it goes to. What a crash left of the last try is found by it. */
const EXPORT_LABEL = 'rxlet.export-to';
/** Where the second one has that directory. */
const INSIDE = '/rxlet-export';
/** Images may be large, and disks slow. */
const EXPORT_WITHIN_MS = 300_000;

/**
 * See ImageService.exportImage. The engine reads the image out of one container and writes it into the directory through another: with owners,
 * modes and links as it has them, and itself minding that no link leads out.
 */
export async function exportImage(
  engine: EngineClient,
  imageRef: string,
  directory: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<void> {
  const labels = { [EXPORT_LABEL]: directory };
  const create = async (binds: readonly string[]): Promise<string> => {
    const { id } = await engine.call('POST /containers/create', engine.requestTimeoutMs, signal, (docker) =>
      // An image for a volume may have no command.
      docker.createContainer({ Image: imageRef, Cmd: [INSIDE], Labels: labels, HostConfig: { NetworkMode: 'none', Binds: [...binds] } }),
    );
    return id;
  };
  await removeLeft(engine, directory, signal);
  try {
    const from = await create([]);
    const to = await create([`${directory}:${INSIDE}`]);
    await copy(engine, { from, to, imageRef, maxBytes }, signal);
  } finally {
    // After an abort, too: there may be no other try.
    await removeLeft(engine, directory, new AbortController().signal);
  }
}

interface Copy {
  readonly from: string;
  readonly to: string;
  readonly imageRef: string;
  readonly maxBytes: number;
}

async function copy(engine: EngineClient, { from, to, imageRef, maxBytes }: Copy, signal: AbortSignal): Promise<void> {
  using own = anySignal(signal);
  const within = own.signal;
  const archive = await engine.open(`GET /containers/${from}/export`, engine.requestTimeoutMs, within, (docker) =>
    docker.getContainer(from).export(),
  );
  let bytes = 0;
  const counted = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      if (bytes > maxBytes) done(new Error(`image ${imageRef} has more than the ${maxBytes} bytes that there is room for`));
      else done(null, chunk);
    },
  });
  const fail = (error: Error): void => own.abort(error);
  archive.on('error', fail);
  counted.on('error', fail);
  try {
    await engine.call(`PUT /containers/${to}/archive?path=${INSIDE}`, EXPORT_WITHIN_MS, within, (docker) =>
      docker.getContainer(to).putArchive(archive.pipe(counted), { path: INSIDE }),
    );
  } finally {
    archive.destroy();
    counted.destroy();
  }
  within.throwIfAborted();
}

/**
 * Removes the containers of exports into directories below `rootDir` that are not `underWay`: an agent was killed during them, and their pods
 * may be gone. Resolves with how many there were.
 */
export async function removeLostExports(
  engine: EngineClient,
  rootDir: string,
  isUnderWay: (directory: string) => boolean,
  signal: AbortSignal,
): Promise<number> {
  const lost = (await labelled(engine, EXPORT_LABEL, signal)).filter(({ Labels: { [EXPORT_LABEL]: directory = '' } }) => {
    // Other agents of this engine have root directories of their own.
    return directory.startsWith(`${rootDir}/`) && !isUnderWay(directory);
  });
  for (const { Id } of lost) await deleteContainer(engine, Id, signal);
  return lost.length;
}

async function removeLeft(engine: EngineClient, directory: string, signal: AbortSignal): Promise<void> {
  for (const { Id } of await labelled(engine, `${EXPORT_LABEL}=${directory}`, signal)) await deleteContainer(engine, Id, signal);
}

const labelled = (engine: EngineClient, label: string, signal: AbortSignal): Promise<readonly ContainerInfo[]> =>
  engine.call('GET /containers/json', engine.requestTimeoutMs, signal, (docker) =>
    docker.listContainers({ all: true, filters: { label: [label] } }),
  );
