import { expandSubPath } from '../../model/expansion.ts';
import type { Container, Pod } from '../../model/pod.ts';
import type { ImageMount } from '../../ports/container-runtime.ts';
import type { ImagePuller } from '../../ports/image-puller.ts';

type Mounts = NonNullable<Container['volumeMounts']>;
type ImageSource = NonNullable<NonNullable<Pod['spec']['volumes']>[number]['image']>;

/** A container's mount of an image, before it is known what the engine calls it. */
interface Mounted {
  readonly mount: Mounts[number];
  readonly source: ImageSource;
}

/** Whether the container mounts images. */
export const mountsImages = (pod: Pod, container: Container): boolean => imagesMounted(pod, container).length > 0;

/** Makes the images present that the container mounts, as their pull policies say. Resolves with what the engine calls each, by volume. */
export async function ensureImageVolumes(
  images: Pick<ImagePuller, 'ensureImage'>,
  pod: Pod,
  container: Container,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const refs = new Map<string, string>();
  for (const { mount, source } of imagesMounted(pod, container)) {
    if (refs.has(mount.name)) continue;
    const { reference: image, pullPolicy: imagePullPolicy } = source;
    const asked = { name: container.name, ...(image && { image }), ...(imagePullPolicy && { imagePullPolicy }) };
    refs.set(mount.name, await images.ensureImage(pod, asked, signal));
  }
  return refs;
}

/** Whether each image is mounted once in the container. */
export function eachImageOnce(pod: Pod, container: Container, refs: ReadonlyMap<string, string>): boolean {
  const mounted = imagesMounted(pod, container).map(({ mount }) => refs.get(mount.name));
  return new Set(mounted).size === mounted.length;
}

/** What the engine mounts; `env` is for subPathExpr. Throws in the kubelet's words (pkg/kubelet makeMounts). */
export function imageMounts(
  pod: Pod,
  container: Container,
  refs: ReadonlyMap<string, string>,
  env: ReadonlyMap<string, string>,
): readonly ImageMount[] {
  return imagesMounted(pod, container).map(({ mount }) => {
    const { name, mountPath, subPath, subPathExpr } = mount;
    const imageRef = refs.get(name);
    if (imageRef === undefined) throw new Error(`the image of volume "${name}" is not there`);
    const path = subPathExpr ? expandSubPath(subPathExpr, env) : subPath;
    if (path?.startsWith('/')) throw new Error(`error SubPath \`${path}\` must not be an absolute path`);
    if (path?.split('/').includes('..')) throw new Error(`unable to provision SubPath \`${path}\`: must not contain '..'`);
    return { imageRef, containerPath: mountPath.startsWith('/') ? mountPath : `/${mountPath}`, ...(path && { subPath: path }) };
  });
}

function imagesMounted({ spec }: Pod, { volumeMounts = [] }: Container): readonly Mounted[] {
  return volumeMounts.flatMap((mount) => {
    const source = spec.volumes?.find(({ name }) => name === mount.name)?.image;
    return source ? [{ mount, source }] : [];
  });
}
