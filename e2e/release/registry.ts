// SPDX-License-Identifier: Apache-2.0
/**
 * startRegistry starts an OCI registry on loopback that keeps its content in memory.
 * Usage: `const registry = await startRegistry(); await registry.stop();`
 */
import { goPrograms } from "@switchyard/go-programs";
import { eventually, findFreePorts, spawnGuarded } from "@switchyard/testing";
import { join } from "node:path";

export interface Registry {
  /** "localhost:5000". */
  readonly address: string;
  /** Path of crane, a client of registries. */
  readonly crane: string;
  stop(): Promise<void>;
}

export async function startRegistry(): Promise<Registry> {
  const crane = join(await goPrograms("crane"), "crane");
  const [port = 0] = await findFreePorts(1);
  const server = spawnGuarded(crane, ["registry", "serve", "--address", `127.0.0.1:${port}`]);
  const address = `localhost:${port}`;
  await eventually(async () => (await fetch(`http://${address}/v2/`)).ok);
  return { address, crane, stop: async () => { await server.stop(); } };
}
