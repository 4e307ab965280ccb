export { run, same } from './defaulting.ts';
