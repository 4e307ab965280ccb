import { applyDefaultImageTag, ImageNameError } from '../../../src/model/image-name.ts';

export function run(image: string): unknown {
  try {
    return { image: applyDefaultImageTag(image) };
  } catch (error) {
    if (error instanceof ImageNameError) return { error: error.message };
    throw error;
  }
}
