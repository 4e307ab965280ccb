import { afterEach, beforeEach, describe } from 'node:test';
import type { ContainerAccess } from '../../src/ports/container-access.ts';
import { accessContract } from './access-contract.ts';
import { type EngineUnderTest, RuntimeWorld } from './runtime-world.ts';

/** What every ContainerAccess promises, in sentences. `make` is called once a sentence. */
export function containerAccessContract(name: string, make: () => Promise<EngineUnderTest & { readonly access: ContainerAccess }>): void {
  describe(`${name} keeps the contract of reaching into containers`, { timeout: 900_000 }, () => {
    let world: RuntimeWorld;
    let access: ContainerAccess;
    beforeEach(async () => {
      const engine = await make();
      world = new RuntimeWorld(engine);
      access = engine.access;
    });
    afterEach(() => world.dispose());
    accessContract(
      () => world,
      () => access,
    );
  });
}
