// SPDX-License-Identifier: Apache-2.0
/** The example of docs/guide/afxdp-programs.md gets maps from the plugin. It needs python3. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { missingForNamespaces } from "@switchyard/netlink/testing";
import { createPoolServerNode, podWith, poolOf, type PoolServerNode } from "../testing/pool-server-node.ts";

const root = join(__dirname, "../../../..");
const example = join(root, "apps/afxdp-device-plugin/get_map.py");
const missing = missingForNamespaces();

(missing === undefined ? describe : describe.skip)("apps/afxdp-device-plugin/get_map.py", () => {
  let node: PoolServerNode;
  beforeEach(async () => {
    node = await createPoolServerNode();
    await node.offer(poolOf("fast", ["v0", "v1"]));
    await node.kubelet.allocate("afxdp/fast", ["v0", "v1"]);
    node.kubelet.pods = [podWith("fast", "v0", "v1")];
  });
  afterEach(async () => {
    await node[Symbol.asyncDispose]();
  });

  const run = (podName: string) =>
    promisify(execFile)("python3", [example, "AFXDP_DEVICES_FAST"], {
      env: {
        ...process.env,
        AFXDP_DEVICES_FAST: "v0 v1",
        AFXDP_SOCKET: join(node.directory, "sockets/{}/afxdp.sock"),
        POD_NAME: podName,
      },
    });

  it("gets a map for each device, and is refused under the name of another pod", async () => {
    expect((await run("app")).stdout).toMatch(/^v0 \d+\nv1 \d+\n$/);
    await expect(run("other")).rejects.toMatchObject({ stderr: "/connect,other: /host_nak\n" });
  });

  it("is the one in the guide", () => {
    const [, code] = readFileSync(example, "utf8").split(/^"""Gets/m);
    const page = readFileSync(join(root, "docs/guide/afxdp-programs.md"), "utf8");
    expect(page).toContain(code?.slice(code.indexOf("\n") + 1).trim());
  });
});
