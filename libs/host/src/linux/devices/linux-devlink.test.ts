// SPDX-License-Identifier: Apache-2.0
/** Devlink needs hardware, so these tests simulate the kernel. The codec is tested in libs/netlink. */
import { describe, expect, it } from "@jest/globals";
import { NetlinkSocket, protocols } from "@switchyard/netlink";
import { ack, createFakeKernel, reply, type FakeKernel, type Respond } from "@switchyard/netlink/testing";
import { createLinuxDevlink } from "./linux-devlink.ts";
import { pci } from "../../testing/nic-models.ts";

const pf = pci("0000:06:00.0");
const controller = 16;
const devlink = 21;

function opener(libc: FakeKernel): () => NetlinkSocket {
  return () => new NetlinkSocket({ protocol: protocols.generic, libc });
}

/** A kernel whose devlink family has the id 21 and returns the given answers. */
function createDevlink(eswitch: Respond) {
  const familyId = Buffer.from("010200000600010015000000", "hex"); // CTRL_CMD_NEWFAMILY, CTRL_ATTR_FAMILY_ID 21
  const kernel = createFakeKernel((asked) =>
    asked.type === controller ? [reply(asked, controller, familyId), ack(asked)] : eswitch(asked),
  );
  const socket = new NetlinkSocket({ protocol: protocols.generic, libc: kernel });
  return { kernel, devlink: createLinuxDevlink({ socket, openSocket: opener(kernel) }) };
}

/** Answer to DEVLINK_CMD_ESWITCH_GET with DEVLINK_ATTR_ESWITCH_MODE. */
function mode(value: number): Respond {
  return (asked) => [reply(asked, devlink, Buffer.of(29, 1, 0, 0, 6, 0, 25, 0, value, 0, 0, 0)), ack(asked)];
}

describe("readEswitchMode", () => {
  it.each([
    { value: 0, expected: "legacy" },
    { value: 1, expected: "switchdev" },
  ])("reads $expected", async ({ value, expected }) => {
    await expect(createDevlink(mode(value)).devlink.readEswitchMode(pf)).resolves.toBe(expected);
  });

  it.each(["ENODEV", "EOPNOTSUPP", "EPERM"] as const)("returns undefined if the kernel answers %s", async (code) => {
    const { devlink } = createDevlink((asked) => [ack(asked, { code })]);
    await expect(devlink.readEswitchMode(pf)).resolves.toBeUndefined();
  });

  it("returns undefined if the kernel has no devlink", async () => {
    const kernel = createFakeKernel((asked) => [ack(asked, { code: "ENOENT" })]);
    const socket = new NetlinkSocket({ protocol: protocols.generic, libc: kernel });
    await expect(
      createLinuxDevlink({ socket, openSocket: opener(kernel) }).readEswitchMode(pf),
    ).resolves.toBeUndefined();
  });

  it("resolves the family once for all PFs", async () => {
    const { kernel, devlink } = createDevlink(mode(1));
    await Promise.all([devlink.readEswitchMode(pf), devlink.readEswitchMode(pf)]);
    expect(kernel.requests.map(({ type }) => type)).toEqual([controller, 21, 21]);
  });

  it("resolves the family again after a failure", async () => {
    let refused = false;
    const kernel = createFakeKernel((asked) => {
      if (refused) return [ack(asked, { code: "ENOENT" })];
      refused = true;
      return [ack(asked, { code: "ENOMEM" })];
    });
    const openSocket = opener(kernel);
    const devlink = createLinuxDevlink({ socket: openSocket(), openSocket });
    await expect(devlink.readEswitchMode(pf)).rejects.toMatchObject({ code: "ENOMEM" });
    await expect(devlink.readEswitchMode(pf)).resolves.toBeUndefined();
  });

  it("rejects with HostError for other errors and for malformed answers", async () => {
    const refused = createDevlink((asked) => [ack(asked, { code: "EBUSY", words: "no" })]).devlink;
    await expect(refused.readEswitchMode(pf)).rejects.toMatchObject({
      name: "HostError",
      code: "EBUSY",
      words: "no",
      message: "read eswitch mode on 0000:06:00.0: EBUSY (no)",
    });
    const odd = createDevlink(mode(7)).devlink;
    await expect(odd.readEswitchMode(pf)).rejects.toMatchObject({ name: "HostError", code: "EBADMSG" });
  });
});

describe("setEswitchMode", () => {
  it("rejects with the explanation of the driver", async () => {
    const words = "Changing eswitch mode is allowed only if there is no VFs created";
    const { devlink } = createDevlink((asked) => [ack(asked, { code: "EOPNOTSUPP", words })]);
    await expect(devlink.setEswitchMode(pf, "switchdev")).rejects.toMatchObject({
      name: "HostError",
      code: "EOPNOTSUPP",
      message: `set eswitch mode switchdev on 0000:06:00.0: EOPNOTSUPP (${words})`,
    });
  });

  it("does not make a read wait for a change", async () => {
    const gate = Promise.withResolvers<undefined>();
    const { devlink } = createDevlink(async (asked) => {
      if (asked.payload[0] === 30) await gate.promise; // DEVLINK_CMD_ESWITCH_SET
      return mode(1)(asked);
    });
    const change = devlink.setEswitchMode(pf, "switchdev");
    await expect(devlink.readEswitchMode(pf)).resolves.toBe("switchdev");
    gate.resolve(undefined);
    await change;
  });
});

describe("readParameter", () => {
  it.each(["ENODEV", "EOPNOTSUPP", "EINVAL"] as const)("returns undefined if the kernel answers %s", async (code) => {
    const { devlink } = createDevlink((asked) => [ack(asked, { code })]);
    await expect(devlink.readParameter(pf, "flow_steering_mode")).resolves.toBeUndefined();
  });
});
