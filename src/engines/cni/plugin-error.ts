/** A CNI plugin said no. The message has the plugin's own words. */
export class CniPluginError extends Error {
  readonly plugin: string;
  /** The specification's error code; 0 where the plugin gave none. */
  readonly code: number;
  readonly msg: string;
  readonly details: string;

  constructor(
    plugin: string,
    command: string,
    said: { readonly code: number; readonly msg: string; readonly details: string },
    options?: { readonly cause?: unknown },
  ) {
    const words = said.details === '' ? said.msg : `${said.msg}; ${said.details}`;
    const code = said.code === 0 ? '' : ` (code ${said.code})`;
    super(`plugin type="${plugin}" failed (${command.toLowerCase()}): ${words}${code}`, options);
    this.name = 'CniPluginError';
    this.plugin = plugin;
    this.code = said.code;
    this.msg = said.msg;
    this.details = said.details;
  }
}
