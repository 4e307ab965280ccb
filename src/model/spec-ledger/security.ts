import type {
  V1Capabilities,
  V1PodSecurityContext,
  V1SeccompProfile,
  V1SecurityContext,
  V1SELinuxOptions,
  V1AppArmorProfile,
  V1Sysctl,
} from '@kubernetes/client-node';
import { approximated, honoured, ignored, is, section } from './entry.ts';

const seLinux = section<V1SELinuxOptions>('SELinuxOptions', { level: honoured, role: honoured, type: honoured, user: honoured });
const windows = ignored('this node runs Linux');

const appArmorProfile = section<V1AppArmorProfile>('AppArmorProfile', { localhostProfile: honoured, type: honoured });
const seccompProfile = section<V1SeccompProfile>('SeccompProfile', { localhostProfile: honoured, type: honoured });

export const podSecurityContext = section<V1PodSecurityContext>('PodSecurityContext', {
  appArmorProfile,
  fsGroup: honoured,
  fsGroupChangePolicy: honoured,
  runAsGroup: honoured,
  runAsNonRoot: honoured,
  runAsUser: honoured,
  seLinuxChangePolicy: approximated(
    'the files of volumes are relabelled one by one, as under Recursive, but for volumes for one pod of CSI drivers with seLinuxMount',
    { when: is('MountOption') },
  ),
  seLinuxOptions: seLinux,
  seccompProfile,
  supplementalGroups: honoured,
  supplementalGroupsPolicy: honoured,
  sysctls: section<V1Sysctl>('Sysctl', { name: honoured, value: honoured }),
  windowsOptions: windows,
});

export const securityContext = section<V1SecurityContext>('SecurityContext', {
  allowPrivilegeEscalation: honoured,
  appArmorProfile,
  capabilities: section<V1Capabilities>('Capabilities', { add: honoured, drop: honoured }),
  privileged: honoured,
  procMount: honoured,
  readOnlyRootFilesystem: honoured,
  runAsGroup: honoured,
  runAsNonRoot: honoured,
  runAsUser: honoured,
  seLinuxOptions: seLinux,
  seccompProfile,
  windowsOptions: windows,
});
