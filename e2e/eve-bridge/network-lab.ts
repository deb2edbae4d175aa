// SPDX-License-Identifier: Apache-2.0
/**
 * createNetworkLab creates a node lab with a fake zedrouter and a DHCP server and daemon, which network instances need.
 * Usage: `await using networkLab = await createNetworkLab(); const { lab, zedrouter, dhcp } = networkLab;`
 */
import { startDhcp, type Dhcp } from "./dhcp.ts";
import { startFakeZedrouter, type FakeZedrouter } from "./fake-zedrouter.ts";
import { createNodeLab, type NodeLab } from "./node-lab.ts";

/** Disposing it ends all processes and removes the lab. */
export interface NetworkLab extends AsyncDisposable {
  readonly lab: NodeLab;
  readonly zedrouter: FakeZedrouter;
  readonly dhcp: Dhcp;
}

/** Rejects if a part cannot be started. */
export async function createNetworkLab(): Promise<NetworkLab> {
  await using stack = new AsyncDisposableStack();
  const lab = stack.use(await createNodeLab());
  const zedrouter = stack.use(await startFakeZedrouter({ socket: lab.settings.rpcSocket, host: lab.host }));
  const dhcp = stack.use(await startDhcp(lab));
  const parts = stack.move();
  return { lab, zedrouter, dhcp, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}
