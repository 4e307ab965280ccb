import { boundedCounts } from '../base/bounded-counts.ts';
import { exposition } from '../base/exposition.ts';
import type { PluginRegistry } from './plugin-registry.ts';

/** The part of /metrics about plugins (pkg/kubelet/pluginmanager/metrics). */
export function totalPlugins({ wanted, registered }: ReturnType<PluginRegistry['paths']>): string {
  const samples = (state: string, paths: readonly string[]) =>
    [...boundedCounts(paths)].map(([socket_path, value]) => ({ labels: { socket_path, state }, value }));
  return exposition([
    {
      name: 'plugin_manager_total_plugins',
      help: '[ALPHA] Number of plugins in Plugin Manager',
      type: 'gauge',
      samples: [...samples('actual_state_of_world', registered), ...samples('desired_state_of_world', wanted)],
    },
  ]);
}
