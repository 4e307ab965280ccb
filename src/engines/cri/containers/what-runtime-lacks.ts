import type { ContainerSpec } from '../../../ports/container-runtime.ts';
import type { CriFeatures } from '../features/engine-features.ts';

type Abilities = Pick<CriFeatures, 'cdi' | 'imageSubPaths'>;
type Wishes = Pick<ContainerSpec, 'cdiDevices' | 'imageMounts'>;

/** Whether it needs anything that some runtimes pass over in silence. */
export const mayLack = (spec: Wishes): boolean => whatRuntimeLacks({ cdi: false, imageSubPaths: false }, spec) !== undefined;

/** Why the runtime would make another container than is asked for, without a word; undefined: it would not. */
export function whatRuntimeLacks({ cdi, imageSubPaths }: Abilities, { cdiDevices = [], imageMounts = [] }: Wishes): string | undefined {
  if (!cdi && cdiDevices.length > 0)
    return `device ${cdiDevices[0]}: this runtime has no CDI, by which it is named: use containerd from 1.7 on`;
  const part = imageSubPaths ? undefined : imageMounts.find(({ subPath }) => subPath);
  return (
    part &&
    `the image at ${part.containerPath}: subPath ${JSON.stringify(part.subPath)}: this runtime mounts no part of an image: use containerd from 2.2 on, or CRI-O from 1.33 on`
  );
}
