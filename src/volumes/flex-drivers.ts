import { constants, lstat, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { exists } from '../base/exists.ts';
import { namesIn } from '../base/names-in.ts';
import { errorText } from '../base/error-text.ts';
import { isJsonObject, type JsonObject } from '../base/json-object.ts';
import { LruMap } from '../base/lru-map.ts';
import { printable } from '../base/printable.ts';
import { type CommandEnd, runCommand } from '../base/run-command.ts';
import { MountStepError } from '../model/mount-step-error.ts';
import { words } from './words.ts';

/** What a driver says that it can, and leaves to others where not. */
export interface FlexCapabilities {
  /** Its volumes are attached to nodes before they are mounted, by it or by the controller of the cluster. */
  readonly attach: boolean;
  readonly fsGroup: boolean;
  readonly relabel: boolean;
}

/** A driver that is there. */
export interface FlexDriver {
  readonly can: FlexCapabilities;
  /** Each rejects in the driver's words. What it leaves to the agent is false. */
  mount(directory: string, options: FlexOptions, signal: AbortSignal): Promise<boolean>;
  /** Of one that attaches: resolve with the device, "/dev/sdb", or empty where there is none. */
  attach(options: FlexOptions, node: string, signal: AbortSignal): Promise<string>;
  waitForAttach(device: string, options: FlexOptions, signal: AbortSignal): Promise<string>;
  mountDevice(directory: string, device: string, options: FlexOptions, signal: AbortSignal): Promise<boolean>;
  unmountDevice(directory: string, signal: AbortSignal): Promise<boolean>;
  detach(volume: string, node: string, signal: AbortSignal): Promise<void>;
}

export type FlexOptions = Readonly<Record<string, string>>;

/** FlexVolume drivers: programs below a directory of the node that mount and unmount (pkg/volume/flexvolume). */
export interface FlexDrivers {
  /** Rejects with MountStepError where there is no such driver. */
  find(driver: string, signal: AbortSignal): Promise<FlexDriver>;
  /** What drivers that are there have mounted in a pod's directory of volumes. Rejects in the words of the first that fails, after all others. */
  unmountBelow(volumes: string, signal: AbortSignal): Promise<void>;
}

/** Of a pod's directory of volumes: "vendor~driver". */
export const flexPlugin = (driver: string): string => driver.replace('/', '~');

const MOUNT_MS = 110_000;
const UNMOUNT_MS = 30_000;
const INIT_MS = 10_000;
/** Whether a driver can be called this. No other name becomes part of a path: it is the pod's to choose. */
export const isFlexDriver = (driver: string): boolean => DRIVER.test(driver) && isPlugin(flexPlugin(driver));

/** As they are named in the directory of drivers and in those of pods. */
const PLUGIN = /^[A-Za-z0-9][\w.-]{0,127}(?:~[A-Za-z0-9][\w.-]{0,127})?$/;
const isPlugin = (name: string): boolean => PLUGIN.test(name) && !name.startsWith('kubernetes.io~');
/** As pods name it. */
const DRIVER = /^[\w.-]+(?:\/[\w.-]+)?$/;

/** A call that the driver leaves to the kubelet. */
class NotSupportedError extends Error {
  override readonly name = 'NotSupportedError';
}

export function flexDrivers(directory: string, clock: Pick<Clock, 'schedule'>): FlexDrivers {
  const known = new LruMap<string, FlexCapabilities>(100);

  const programOf = async (plugin: string): Promise<string | undefined> => {
    if (!isPlugin(plugin)) return undefined;
    const program = join(directory, plugin, plugin.slice(plugin.indexOf('~') + 1));
    return (await exists(program, constants.X_OK)) ? program : undefined;
  };

  const call = async (
    program: string,
    argv: readonly [string, ...string[]],
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<JsonObject> => {
    const [verb] = argv;
    const end = await runCommand(program, argv, { clock, deadlineMs, signal });
    const answer = answerIn(end);
    if (answer === undefined) throw new Error(`${verb} command failed: ${whatHappened(program, end)}`);
    const { status, message } = answer;
    if (status === 'Not supported') throw new NotSupportedError('Not supported');
    if (status !== 'Success') throw new Error(words(`${verb} command failed, status: ${textOf(status)}, reason: ${textOf(message)}`));
    return answer;
  };

  /** Undefined: the driver leaves it to the agent. */
  const asked = (...args: Parameters<typeof call>): Promise<JsonObject | undefined> =>
    call(...args).catch((error: unknown) => {
      if (error instanceof NotSupportedError) return undefined;
      throw error;
    });

  const capabilitiesOf = async (program: string, signal: AbortSignal): Promise<FlexCapabilities> => {
    const before = known.get(program);
    if (before) return before;
    const { capabilities } = await call(program, ['init'], INIT_MS, signal);
    const can = isJsonObject(capabilities) ? capabilities : {};
    const found = { attach: can['attach'] !== false, fsGroup: can['fsGroup'] !== false, relabel: can['selinuxRelabel'] !== false };
    known.set(program, found);
    return found;
  };

  const unmount = async (program: string, target: string, signal: AbortSignal): Promise<void> => {
    try {
      await call(program, ['unmount', target], UNMOUNT_MS, signal);
    } catch (error) {
      // Then it is unmounted as all others are.
      if (error instanceof NotSupportedError) return;
      throw error;
    }
    // It is not asked again; what is not empty is removed, or found to be mounted, with the rest.
    await rmdir(target).catch(() => {});
  };

  return {
    find: async (driver, signal) => {
      const program = isFlexDriver(driver) ? await programOf(flexPlugin(driver)) : undefined;
      if (program === undefined)
        throw new MountStepError('CanMount', `no volume plugin matched: there is no FlexVolume driver ${words(driver)} in ${directory}`);
      return {
        can: await capabilitiesOf(program, signal),
        mount: async (target, options, mounting) =>
          !!(await asked(program, ['mount', target, JSON.stringify(options)], MOUNT_MS, mounting)),
        attach: async (options, node, attaching) =>
          deviceIn(await asked(program, ['attach', JSON.stringify(options), node], MOUNT_MS, attaching), ''),
        waitForAttach: async (device, options, waiting) =>
          deviceIn(await asked(program, ['waitforattach', device, JSON.stringify(options)], MOUNT_MS, waiting), device),
        mountDevice: async (target, device, options, mounting) =>
          !!(await asked(program, ['mountdevice', target, device, JSON.stringify(options)], MOUNT_MS, mounting)),
        unmountDevice: async (target, unmounting) => !!(await asked(program, ['unmountdevice', target], MOUNT_MS, unmounting)),
        detach: async (volume, node, detaching) => {
          await asked(program, ['detach', volume, node], MOUNT_MS, detaching);
        },
      };
    },
    unmountBelow: async (volumes, signal) => {
      const failed: unknown[] = [];
      for (const plugin of await namesIn(volumes)) {
        const program = await programOf(plugin);
        if (program === undefined) continue;
        for (const name of await namesIn(join(volumes, plugin))) {
          const target = join(volumes, plugin, name);
          // Not looked into: its server may be gone.
          if (!(await lstat(target)).isDirectory()) continue;
          await unmount(program, target, signal).catch((error: unknown) => {
            const what = `FlexVolume driver ${plugin} has not unmounted volume ${printable(name)}: ${errorText(error)}`;
            failed.push(new Error(what, { cause: error }));
          });
          signal.throwIfAborted();
        }
      }
      if (failed.length > 0) throw failed[0];
    },
  };
}

/** Drivers answer, and say why they failed, by what they print. */
function answerIn(end: CommandEnd): JsonObject | undefined {
  if (end.is !== 'exited') return undefined;
  try {
    const json: unknown = JSON.parse(end.stdout);
    // A program that fails has not succeeded, whatever it says.
    return isJsonObject(json) && !(end.code !== 0 && json['status'] === 'Success') ? json : undefined;
  } catch {
    return undefined;
  }
}

function whatHappened(program: string, end: CommandEnd): string {
  switch (end.is) {
    case 'exited': {
      const said = words(`${end.stdout} ${end.stderr}`.trim());
      return end.code === 0 ? `${program} answered with what is no status: ${said}` : `${program}: exit status ${end.code}: ${said}`;
    }
    case 'killed':
      return `${program}: signal: ${end.by}`;
    case 'late':
      return `${program}: timed out`;
    case 'missing':
      return end.error.message;
    default:
      return end satisfies never;
  }
}

const deviceIn = (answer: JsonObject | undefined, otherwise: string): string => (answer ? textOf(answer['device']) : otherwise);

const textOf = (json: unknown): string => (typeof json === 'string' ? json : '');
