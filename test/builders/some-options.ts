import type { KubeletOptions } from '../../src/options/kubelet-options.ts';
import { loadOptions } from '../../src/options/load-options.ts';

/** As without any flag or file, on a node "n1". */
export const defaultOptions = await loadOptions([], {
  hostname: 'n1',
  terminal: false,
  readFile: () => Promise.reject(new Error('no file')),
});

/** The defaults but for these. */
export const someOptions = (over: Partial<KubeletOptions> = {}): KubeletOptions => ({ ...defaultOptions.options, ...over });
