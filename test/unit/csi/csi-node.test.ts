import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csiNodeWith, type DriverToShow, nodeChange } from '../../../src/csi/csi-node.ts';
import { driverNameFault, versionsFault } from '../../../src/csi/csi-driver-name.ts';

const shown = (...here: readonly DriverToShow[]) => ({ here, gone: [] });
const node = { metadata: { name: 'n1', uid: 'u1', labels: { zone: 'a' } } };
const disk = { name: 'disk.example.com', info: { nodeId: 'i-1', maxVolumes: 25, topology: { zone: 'a', rack: '7' } } };
const files = { name: 'files.example.com', info: { nodeId: 'n1', maxVolumes: 0, topology: {} } };

test('the CSINode has the drivers, their topology keys and limits, and is of the Node; what is so already is left alone', () => {
  const made = csiNodeWith(undefined, node, shown(disk, files));
  assert.deepEqual(made?.metadata?.ownerReferences, [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' }]);
  assert.match(made?.metadata?.annotations?.['storage.alpha.kubernetes.io/migrated-plugins'] ?? '', /^kubernetes\.io\/aws-ebs,/);
  assert.deepEqual(made?.spec, {
    drivers: [
      { name: 'disk.example.com', nodeID: 'i-1', topologyKeys: ['rack', 'zone'], allocatable: { count: 25 } },
      { name: 'files.example.com', nodeID: 'n1', topologyKeys: [] },
    ],
  });
  assert.equal(csiNodeWith(made, node, shown(disk, files)), undefined);
  // As the API server gives it back.
  const stored = {
    ...made,
    spec: {
      drivers: [{ name: 'files.example.com', nodeID: 'n1', topologyKeys: null as never }, ...(made?.spec.drivers.slice(0, 1) ?? [])],
    },
  };
  assert.equal(csiNodeWith(stored, node, shown(disk, files)), undefined);
  const kept = { ...made, spec: made?.spec ?? { drivers: [] }, metadata: { ...made?.metadata, resourceVersion: '7' } };
  const after = csiNodeWith(kept, node, { here: [files], gone: [disk.name] });
  assert.deepEqual(
    after?.spec.drivers.map(({ name }) => name),
    ['files.example.com'],
  );
  assert.equal(after?.metadata?.resourceVersion, '7');
  // One that has not come back yet after a start of the agent stays.
  assert.equal(csiNodeWith(made, node, shown(files)), undefined);
});

test('the Node gets the ids as an annotation and the topology as labels; a label that says otherwise stays, and is told', () => {
  assert.deepEqual(nodeChange(node, shown(disk, files)), {
    patch: {
      metadata: {
        annotations: { 'csi.volume.kubernetes.io/nodeid': '{"disk.example.com":"i-1","files.example.com":"n1"}' },
        labels: { rack: '7' },
      },
    },
    faults: [],
  });
  const labels = { zone: 'b', rack: '7' };
  const annotations = { 'csi.volume.kubernetes.io/nodeid': '{"files.example.com":"n1", "disk.example.com":"i-1"}' };
  const { patch, faults } = nodeChange({ metadata: { labels, annotations } }, shown(disk, files));
  assert.equal(patch, undefined);
  const words = 'detected topology value collision: driver reported "zone":"a" but existing label is "zone":"b"';
  assert.deepEqual(faults, [`disk.example.com: ${words}`]);
  assert.deepEqual(nodeChange({ metadata: { annotations } }, { here: [], gone: [disk.name, files.name] }).patch, {
    metadata: { annotations: { 'csi.volume.kubernetes.io/nodeid': null } },
  });
  assert.equal(nodeChange({}, shown()).patch, undefined);
});

test('a driver whose name could lead out of its directory, or that speaks another protocol, is refused', () => {
  for (const name of ['csi.example.com', 'A', '9p', 'a'.repeat(63)]) assert.equal(driverNameFault(name), undefined, name);
  for (const name of ['', '..', 'a..b', 'a.-b', 'a/b', '../x', '.a', 'a.', 'a b', 'a\n', 'volumeDevices', 'pv', 'a'.repeat(64), 'ä']) {
    assert.ok(driverNameFault(name), name);
  }
  for (const version of ['1.0.0', 'v1.2.3', '1.0', '1', '1.0.0-rc1']) assert.equal(versionsFault(['0.3.0', version]), undefined, version);
  for (const version of ['0.3.0', '2.0.0', '10.0.0', 'one', '']) assert.ok(versionsFault([version]), version);
  assert.equal(versionsFault([]), 'the driver names no versions of CSI');
});
