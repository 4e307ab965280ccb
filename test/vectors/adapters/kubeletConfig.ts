import { type Input, loaded } from './kubelet-config.ts';

const program = { logFormats: ['text', 'json'], previousRelease: '1.19', onLinux: true };

export const run = (input: Input): Promise<unknown> => loaded(input, program);
export { same } from './kubelet-config.ts';
