// SPDX-License-Identifier: Apache-2.0
/** Runs on the kernel of this machine, in a network namespace. Features and queues of hardware are in the contract cases. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { attachXdp, createXskMap, loadRedirectProgram, NetlinkSocket, pinXskMap, protocols } from "@switchyard/netlink";
import { createNetworkNamespace, loadForeignXdpProgram, missingForNamespaces } from "@switchyard/netlink/testing";
import type { Xdp } from "../../ports/xdp.ts";
import { createLinuxXdp } from "./linux-xdp.ts";

const missing = missingForNamespaces();

(missing === undefined ? describe : describe.skip)("Xdp on the real kernel", () => {
  let namespace: Awaited<ReturnType<typeof createNetworkNamespace>>;
  const sockets = new AsyncDisposableStack();
  let socket: NetlinkSocket;
  let xdp: Xdp;

  beforeAll(async () => {
    namespace = await createNetworkNamespace();
    const open = (protocol: number) => sockets.use(new NetlinkSocket({ protocol, netns: namespace.path }));
    socket = open(protocols.route);
    xdp = createLinuxXdp({ root: namespace.root, socket, genericSocket: open(protocols.generic) });
  });
  afterAll(async () => {
    await sockets.disposeAsync();
    await namespace[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await namespace.run("sh", "-c", "ip link del v0 2>&-; ip link add v0 numrxqueues 4 numtxqueues 4 type veth");
  });

  it("tells the program of Switchyard from others, and detaches only its own", async () => {
    await expect(xdp.readPrograms("v0")).resolves.toEqual([]);
    using map = createXskMap({ queues: 4 });
    using program = loadRedirectProgram(map);
    await attachXdp(socket, "v0", { program, mode: "native" });
    const own = { id: program.id, name: "switchyard_xsk", mode: "native", isOwn: true };
    await expect(xdp.readPrograms("v0")).resolves.toEqual([own]);
    await xdp.detachOwnPrograms("v0");
    await expect(xdp.readPrograms("v0")).resolves.toEqual([]);

    using foreign = loadForeignXdpProgram("xdp_dispatcher");
    await attachXdp(socket, "v0", { program: foreign, mode: "generic" });
    await xdp.detachOwnPrograms("v0");
    const [left] = await xdp.readPrograms("v0");
    expect(left).toMatchObject({ name: "xdp_dispatcher", mode: "generic", isOwn: false });
  });

  it("lists the devices for which a map is pinned, and removes it", async () => {
    await expect(xdp.listOwnMaps()).resolves.toEqual([]);
    await namespace.run("mount", "-t", "bpf", "bpf", "/sys/fs/bpf");
    await namespace.run("mkdir", "-p", "/sys/fs/bpf/switchyard/afxdp/v0", "/sys/fs/bpf/switchyard/afxdp/empty");
    using map = createXskMap({ queues: 4 });
    pinXskMap(map, `${namespace.root}/sys/fs/bpf/switchyard/afxdp/v0/xsks_map`);
    await expect(xdp.listOwnMaps()).resolves.toEqual(["v0"]);
    await xdp.removeOwnMap("v0");
    await xdp.removeOwnMap("v0");
    await expect(xdp.listOwnMaps()).resolves.toEqual([]);
    expect(await namespace.run("ls", "/sys/fs/bpf/switchyard/afxdp")).toBe("empty\n");
    await expect(xdp.removeOwnMap("../x")).rejects.toMatchObject({ code: "EINVAL" });
  });

  it("reads and changes queues of an interface that receives and sends separately", async () => {
    await xdp.setQueues("v0", 3);
    await expect(xdp.readQueues("v0")).resolves.toEqual({ count: 3, max: 4 });
    await expect(xdp.setQueues("v0", 5)).rejects.toMatchObject({
      message: "set queues 5 on v0: EINVAL (requested channel count exceeds maximum)",
    });
    await expect(xdp.setQueues("lo", 1)).rejects.toMatchObject({ name: "HostError", code: "EOPNOTSUPP" });
  });

  it("has nothing of the device of a virtual interface, and rejects without an interface", async () => {
    await expect(xdp.readDevice("v0")).resolves.toEqual({});
    await expect(xdp.readDevice("none")).rejects.toMatchObject({ message: "read device on none: ENODEV" });
  });

  it("lists what drivers support", async () => {
    const features = await xdp.listFeatures();
    expect(features[0]).toEqual({ index: 1, native: false, zeroCopy: false });
    expect(features.slice(1).map(({ native }) => native)).toEqual([true, true]);
  });
});
