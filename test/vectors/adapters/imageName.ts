import { defaultImagePullPolicy, ImageNameError, parseImageName } from '../../../src/model/image-name.ts';

export function run(image: string): unknown {
  const pullPolicy = defaultImagePullPolicy(image);
  try {
    return { ...parseImageName(image), pullPolicy };
  } catch (error) {
    if (error instanceof ImageNameError) return { error: true, message: error.message, pullPolicy };
    throw error;
  }
}
