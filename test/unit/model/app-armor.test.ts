import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AppArmorHost, appArmorFault, appArmorProfile } from '../../../src/model/app-armor.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const key = 'container.apparmor.security.beta.kubernetes.io/c';
const annotated = (profile: string): Pod => {
  const pod = aPod('p', { containers: [aContainer('c')] });
  return { ...pod, metadata: { ...pod.metadata, annotations: { [key]: profile } } };
};
const fielded = (type: string, localhostProfile?: string): Pod =>
  aPod('p', {
    containers: [aContainer('c', { securityContext: { appArmorProfile: { type, ...(localhostProfile && { localhostProfile }) } } })],
  });

const able: AppArmorHost = { fault: undefined, loadedProfiles: () => new Set(['mine']) };
const unable: AppArmorHost = { ...able, fault: 'AppArmor is not enabled on the host' };

test('a pod that asks for no confinement runs anywhere', () => {
  for (const pod of [aPod('p'), annotated('unconfined'), annotated(''), fielded('Unconfined')]) {
    assert.equal(appArmorFault(pod, unable), undefined);
  }
});

test('one that does is refused where nothing enforces it, and the field is named', () => {
  assert.equal(appArmorFault(annotated('runtime/default'), unable), `AppArmor is not enabled on the host (metadata.annotations[${key}])`);
  assert.equal(
    appArmorFault(fielded('RuntimeDefault'), unable),
    'AppArmor is not enabled on the host (container c: securityContext.appArmorProfile)',
  );
});

test('where it is enforced, a profile of the node must be there', () => {
  for (const pod of [annotated('runtime/default'), annotated('localhost/mine'), fielded('Localhost', 'mine')]) {
    assert.equal(appArmorFault(pod, able), undefined);
  }
  assert.match(appArmorFault(annotated('localhost/other'), able) ?? '', /^profile "other" is not loaded \(/);
  assert.match(appArmorFault(annotated('what'), able) ?? '', /^invalid AppArmor profile name: "what" \(/);
  const unreadable: AppArmorHost = {
    fault: undefined,
    loadedProfiles: () => {
      throw new Error('no');
    },
  };
  assert.match(appArmorFault(annotated('localhost/mine'), unreadable) ?? '', /^could not read loaded profiles: no \(/);
});

test("a container's field goes before the pod's, and both before the annotation", () => {
  const pod = annotated('localhost/annotated');
  const [container] = pod.spec.containers;
  assert.ok(container);
  const ofPod: Pod = {
    ...pod,
    spec: { ...pod.spec, securityContext: { appArmorProfile: { type: 'Localhost', localhostProfile: 'pods' } } },
  };
  const own = { ...container, securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } };
  assert.equal(appArmorProfile(pod, container).profile, 'localhost/annotated');
  assert.equal(appArmorProfile(ofPod, container).profile, 'localhost/pods');
  assert.equal(appArmorProfile(ofPod, own).profile, 'runtime/default');
});
