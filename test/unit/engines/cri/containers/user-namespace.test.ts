import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NamespaceMode } from '../../../../../src/engines/cri/api/runtime_pb.js';
import { idsOf, inItsUserNamespace, userNamespace } from '../../../../../src/engines/cri/containers/user-namespace.ts';

const ids = { first: 131_072, length: 65_536 };
const config = {
  metadata: { name: 'web', attempt: 0 },
  mounts: [
    { hostPath: '/a', containerPath: '/a' },
    { image: { image: 'x' }, containerPath: '/i' },
  ],
  linux: { securityContext: { namespaceOptions: { network: NamespaceMode.POD }, privileged: false } },
};

test('a container is in the user namespace of its sandbox, and so is what it mounts of the node', () => {
  const usernsOptions = userNamespace(ids);
  const { mounts, linux } = inItsUserNamespace(config, { linux: { securityContext: { namespaceOptions: { usernsOptions } } } });
  const options = linux?.securityContext?.namespaceOptions;
  assert.equal(options?.network, NamespaceMode.POD);
  assert.deepEqual(idsOf(userNamespace(ids)), ids);
  assert.deepEqual(options.usernsOptions, usernsOptions);
  assert.deepEqual(
    mounts?.map(({ uidMappings, gidMappings }) => [uidMappings, gidMappings]),
    [
      [usernsOptions.uids, usernsOptions.gids],
      [[], []],
    ],
  );
});

test('where the sandbox has none, the container is as it was', () => {
  assert.equal(inItsUserNamespace(config, { linux: { securityContext: { namespaceOptions: {} } } }), config);
  assert.equal(idsOf(undefined), undefined);
});
