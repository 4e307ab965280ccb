/** The types by which plugins register (`Type` of pluginregistration.v1.PluginInfo). */
export type PluginType = 'CSIPlugin' | 'DevicePlugin' | 'DRAPlugin';

/** A plugin that has named itself on its socket in the registration directory. */
export interface NamedPlugin {
  readonly name: string;
  /** The absolute path of the socket on which it serves: the one that it names, or the one by which it registers. */
  readonly endpoint: string;
  /** The versions of its own protocol that it speaks, as it wrote them. */
  readonly versions: readonly string[];
}

/** Takes the plugins of one type that register on the node. It gets one call at a time about plugins of one name. */
export interface PluginHandler {
  readonly type: PluginType;
  /**
   * Takes the plugin, or rejects with the reason, which the plugin gets. A plugin that is known by this name is replaced. What takes longer
   * than 10 s has failed, and is tried again with the delays of all that is retried.
   */
  register(plugin: NamedPlugin, signal: AbortSignal): Promise<void>;
  /** Its socket is gone. What it has done for pods stays. */
  deregister(plugin: NamedPlugin, signal: AbortSignal): Promise<void>;
}
