export { runImageGc as run } from './image-gc.ts';
