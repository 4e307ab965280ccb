import { create } from '@bufbuild/protobuf';
import type { IdRange } from '../../../model/user-namespace.ts';
import { ContainerConfigSchema, NamespaceMode, type UserNamespace, UserNamespaceSchema } from '../api/runtime_pb.js';
import type { SandboxConfig } from '../sandbox/sandbox-config.ts';
import type { ContainerConfig } from './container-config.ts';

/** As CRI has it: users and groups alike. */
export function userNamespace({ first: hostId, length }: IdRange): UserNamespace {
  const mappings = [{ hostId, containerId: 0, length }];
  return create(UserNamespaceSchema, { mode: NamespaceMode.POD, uids: mappings, gids: mappings });
}

/** Undefined: those of the node. */
export function idsOf(options: UserNamespace | undefined): IdRange | undefined {
  const [users] = options?.uids ?? [];
  return options?.mode === NamespaceMode.POD && users ? { first: users.hostId, length: users.length } : undefined;
}

/** A container in the user namespace of its sandbox. What it mounts shows its owners as if they were in that: root's files are root's. */
export function inItsUserNamespace(config: ContainerConfig, sandbox: SandboxConfig): ContainerConfig {
  const options = sandbox.linux?.securityContext?.namespaceOptions?.usernsOptions;
  if (options === undefined) return config;
  const users = create(UserNamespaceSchema, options);
  const own = create(ContainerConfigSchema, config);
  for (const mount of own.mounts.filter(({ hostPath }) => hostPath !== '')) {
    mount.uidMappings = users.uids;
    mount.gidMappings = users.gids;
  }
  const namespaces = own.linux?.securityContext?.namespaceOptions;
  if (namespaces) namespaces.usernsOptions = users;
  return own;
}
