// SPDX-License-Identifier: Apache-2.0
/**
 * Runs one pass over the AF_XDP devices of the network namespace that the process is in, on its real kernel, and prints the result,
 * the error and the devices as JSON. Files are below the given root.
 * Usage: `node apps/config-daemon/src/testing/afxdp-pass-main.ts ROOT '{"interfaces":[]}'`, in a network namespace of its own.
 */
import type { AfxdpNetworkNodeStateSpec } from "@switchyard/api";
import { createLinuxHost } from "@switchyard/host";
import { afxdpOn } from "./afxdp-on.ts";

const [root = "/", text = "{}"] = process.argv.slice(2);
const spec = JSON.parse(text) as AfxdpNetworkNodeStateSpec;
await using host = createLinuxHost(root, { onUnreadableRecord: () => undefined });
const daemon = afxdpOn(host);
const result = await daemon.pass(spec);
console.log(JSON.stringify({ result, error: daemon.error(), devices: daemon.shown() }));
