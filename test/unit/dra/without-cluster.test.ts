import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capability } from '../../../src/dra/capability.ts';
import { NodeUse } from '../../../src/model/node-use.ts';
import { nodeUnderTest } from '../../builders/node-parts.ts';
import { aPodThat } from '../../builders/pods-that.ts';

test('without an API server there are no claims: a pod that has some is refused, all others are not', async () => {
  const { signal } = new AbortController();
  const none = new NodeUse();
  const { pod, metricTexts = [] } = await capability(nodeUnderTest().node);
  const claiming = aPodThat('web', { resourceClaims: [{ name: 'gpus', resourceClaimName: 'a' }] });
  const refusal = await pod?.admit?.(claiming, none, signal);
  assert.equal(refusal?.reason, 'ResourceClaimsNotSupported');
  assert.deepEqual(await pod?.wouldAdmit?.(claiming, none, signal), refusal);
  assert.equal(await pod?.admit?.(aPodThat('web'), none, signal), undefined);
  assert.match((await metricTexts[0]?.(signal)) ?? '', /^dra_resource_claims_in_use\{driver_name="<any>"\} 0$/m);
});
