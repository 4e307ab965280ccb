import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { layerFaults } from '../../../hack/layer-faults.ts';

const importing = (path: string, specifier: string, clause = '{ x }'): readonly string[] =>
  layerFaults([{ path, text: `import ${clause} from '${specifier}';\n` }]).faults;

describe('layers', () => {
  const forbidden: readonly [string, string, string][] = [
    ['upwards', 'base/a.ts', '../model/b.ts'],
    ['upwards from the options', 'options/a.ts', '../ports/b.ts'],
    ['sideways between islands', 'volumes/a.ts', '../probes/b.ts'],
    ['sideways between the folders of a house', 'agent/reconcile/a.ts', '../status/b.ts'],
    ['from a folder of a house to what joins it', 'cluster/kube/a.ts', '../cluster.ts'],
    ['from one house to another', 'cluster/cluster.ts', '../agent/mux/a.ts'],
    ['between engines', 'engines/fake/a.ts', '../docker/b.ts'],
    ['from what engines share to one of them', 'engines/common/logs/a.ts', '../../docker/b.ts'],
    ['of what engines share by another island', 'volumes/a.ts', '../engines/common/b.ts'],
    ['of what engines share by a lower layer', 'ports/a.ts', '../engines/common/b.ts'],
    ['between capabilities', 'volumes/capability.ts', '../network/capability.ts'],
    ['sideways from the queue', 'agent/queue/a.ts', '../mux/b.ts'],
    ['of the queue by a port', 'ports/a.ts', '../agent/queue/b.ts'],
    ['a capability past the list', 'run-agent.ts', './volumes/capability.ts'],
    ['a capability by its own folder', 'volumes/a.ts', './capability.ts'],
    ['a capability of a house past the list', 'kubelet.ts', './agent/plan-capability.ts'],
    ['the list by another than the agent', 'main.ts', './capabilities.ts'],
    ['the list by an island', 'volumes/a.ts', '../capabilities.ts'],
    ['the agent by an island', 'volumes/a.ts', '../run-agent.ts'],
  ];
  for (const [what, path, specifier] of forbidden) {
    it(`refuses an import ${what}`, () => {
      assert.deepEqual(importing(path, specifier), [`src/${path}: must not import ${specifier}`]);
      assert.deepEqual(
        layerFaults([{ path, text: `const { x } = await import('${specifier}');` }]).faults.length,
        1,
        'as a dynamic import',
      );
    });
  }

  const allowed: readonly [string, string, string][] = [
    ['downwards', 'ports/a.ts', '../options/b.ts'],
    ['within an island', 'volumes/a.ts', './kinds/b.ts'],
    ['of a port by an island', 'volumes/a.ts', '../ports/b.ts'],
    ['of the queue by an island', 'mirror/a.ts', '../agent/queue/b.ts'],
    ['within a folder of a house', 'engines/docker/access/a.ts', '../logs/b.ts'],
    ['of what engines share by an engine', 'engines/docker/a.ts', '../common/logs/b.ts'],
    ['of a house by what joins it', 'cluster/cluster.ts', './kube/a.ts'],
    ['of an island by a file of src', 'kubelet.ts', './agent/mux/a.ts'],
    ['of a capability by the list', 'capabilities.ts', './volumes/capability.ts'],
    ['of a capability of a house by the list', 'capabilities.ts', './agent/plan-capability.ts'],
    ['by a capability of a house of its folders', 'agent/plan-capability.ts', './reconcile/a.ts'],
    ['of the list by the agent', 'run-agent.ts', './capabilities.ts'],
  ];
  for (const [what, path, specifier] of allowed) {
    it(`allows an import ${what}`, () => assert.deepEqual(importing(path, specifier), []));
  }

  it('gives each vendor library one owner, of which others may know the types', () => {
    assert.equal(importing('volumes/a.ts', 'dockerode').length, 1);
    assert.equal(importing('engines/fake/a.ts', 'dockerode').length, 1);
    assert.deepEqual(importing('engines/docker/access/a.ts', 'dockerode'), []);
    assert.deepEqual(importing('volumes/a.ts', '@kubernetes/client-node', 'type { V1Pod }'), []);
  });

  it('counts the imports that it read', () => assert.equal(layerFaults([{ path: 'a.ts', text: '' }]).imports, 0));
});
