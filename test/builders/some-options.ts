import { LiveValue } from '../../src/base/live.ts';
import type { KubeletOptions, LiveOptions } from '../../src/options/kubelet-options.ts';
import { loadOptions } from '../../src/options/load-options.ts';
import type { ConfigSource } from '../../src/ports/config-source.ts';

/** As without any flag or file, on a node "n1". */
export const defaultOptions = await loadOptions([], {
  hostname: 'n1',
  terminal: false,
  readFile: () => Promise.reject(new Error('no file')),
});

/** The defaults but for these. */
export const someOptions = (over: Partial<KubeletOptions> = {}): KubeletOptions => ({ ...defaultOptions.options, ...over });

/** The defaults but for these, to be changed. */
export const someLive = (over: Partial<LiveOptions> = {}): LiveValue<LiveOptions> => new LiveValue<LiveOptions>(someOptions(over));

/** Flags and files say what they said before. */
export const unchangedConfig: ConfigSource = { read: async () => defaultOptions };
