import type { Option } from './option.ts';
import { admissionAndResourceOptions } from './table/admission-and-resources.ts';
import { cgroupOptions } from './table/cgroups.ts';
import { clusterOptions } from './table/cluster.ts';
import { engineAndImageOptions } from './table/engine-and-images.ts';
import { evictionOptions } from './table/eviction.ts';
import { garbageOptions } from './table/garbage.ts';
import { generalOptions } from './table/general.ts';
import { loggingOptions } from './table/logging.ts';
import { machineOptions } from './table/machine.ts';
import { networkOptions } from './table/network.ts';
import { nodeOptions } from './table/node.ts';
import { podOptions } from './table/pods.ts';
import { processOptions } from './table/process.ts';
import { resourceManagerOptions } from './table/resource-managers.ts';
import { serverOptions } from './table/server.ts';
import { shutdownOptions } from './table/shutdown.ts';

/**
 * Every setting that this agent honours, under the name it has in KubeletOptions. Flags, config paths and defaults are the
 * kubelet's (cmd/kubelet/app/options/options.go, pkg/kubelet/apis/config/v1beta1/defaults.go, release 1.20), unless help says otherwise.
 */
export const optionsTable = {
  ...podOptions,
  ...admissionAndResourceOptions,
  ...engineAndImageOptions,
  ...garbageOptions,
  ...nodeOptions,
  ...machineOptions,
  ...evictionOptions,
  ...cgroupOptions,
  ...resourceManagerOptions,
  ...shutdownOptions,
  ...networkOptions,
  ...clusterOptions,
  ...serverOptions,
  ...loggingOptions,
  ...processOptions,
  ...generalOptions,
} as const;

export type OptionName = keyof typeof optionsTable;
type ValueOf<O> = O extends Option<infer T> ? T : never;
export type OptionValues = { readonly [Name in OptionName]: ValueOf<(typeof optionsTable)[Name]> };

/** Those of which a change counts while the agent runs. */
export type LiveOptionName = {
  [Name in OptionName]: (typeof optionsTable)[Name] extends { readonly takesEffect: 'at once' } ? Name : never;
}[OptionName];

/** The table for code that treats all options alike. */
export const allOptions: readonly (readonly [OptionName, Option<unknown>])[] = Object.entries(optionsTable).map(
  ([name, declared]) => [name as OptionName, declared as Option<unknown>] as const,
);
