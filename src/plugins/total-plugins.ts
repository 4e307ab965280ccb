import { type Worlds, worldsText } from '../base/worlds-text.ts';

/** The part of /metrics about plugins, by the paths of their sockets (pkg/kubelet/pluginmanager/metrics). */
export const totalPlugins = (paths: Worlds): string =>
  worldsText({ name: 'plugin_manager_total_plugins', help: 'Number of plugins in Plugin Manager', label: 'socket_path' }, paths);
