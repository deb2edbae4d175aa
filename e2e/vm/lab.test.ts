// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the VM lab itself, on which the other tests of this directory rely.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { bootGuest, type Guest } from "@switchyard/vm-lab";
import { corruptApicIsr, timerVector } from "../src/corrupt-apic-isr.ts";

/** Time for a boot under load, including the build of a missing image. */
const bootLimitMs = 600_000;
const limitMs = 300_000;
const pf = "/sys/bus/pci/devices/0000:01:00.0";

let share = "";
beforeAll(async () => {
  share = await mkdtemp(join(tmpdir(), "lab-share-"));
});
afterAll(() => rm(share, { recursive: true }));

/** Returns the standard output of a command that must succeed. */
async function output(guest: Guest, command: string): Promise<string> {
  const { code, stdout, stderr } = await guest.exec(command, { timeoutMs: limitMs });
  expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: "" });
  return stdout.trim();
}

/** Listens on a port that the kernel chooses, and returns the port. */
async function listenAnywhere(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe("a fast boot", () => {
  let guest: Guest;
  let hostPort = 0;
  beforeAll(async () => {
    const server = createServer();
    hostPort = await listenAnywhere(server);
    server.close();
    guest = await bootGuest({ udev: true, share, hostForwards: [{ hostPort, guestPort: 8080 }] });
  }, bootLimitMs);
  afterAll(() => guest[Symbol.asyncDispose]());

  it(
    "has two igb ports with their real names, connected to each other by a cable",
    async () => {
      expect(await output(guest, "ls /sys/bus/pci/drivers/igb | grep :")).toBe("0000:01:00.0\n0000:01:00.1");
      await output(guest, "ip link set enp1s0f0 up; ip link set enp1s0f1 up");
      await output(guest, "until grep -q 1 /sys/class/net/enp1s0f0/carrier; do sleep 0.1; done");
    },
    limitMs,
  );

  it(
    "creates real VFs, each with its own interface and IOMMU group",
    async () => {
      await output(guest, `echo 4 >${pf}/sriov_numvfs; udevadm settle`);
      expect(await output(guest, "ls -d /sys/class/net/enp1s0f0v* | wc -l")).toBe("4");
      expect(await output(guest, `readlink ${pf}/virtfn*/iommu_group | sort -u | wc -l`)).toBe("4");
      await output(guest, `echo 0 >${pf}/sriov_numvfs`);
    },
    limitMs,
  );

  it(
    "reaches the host's loopback services at 10.0.2.2, and the host reaches a forwarded port",
    async () => {
      const server = createServer((_request, response) => response.end("from the host"));
      const port = await listenAnywhere(server);
      expect(await output(guest, `busybox wget -qO- http://10.0.2.2:${port}/`)).toBe("from the host");
      server.close();

      const serve = 'createServer((_, answer) => answer.end("from the guest")).listen(8080, () => console.log("up"))';
      const web = guest.spawn(["node", "-e", `require("node:http").${serve}`]);
      await once(web.stdout, "data");
      expect(await (await fetch(`http://127.0.0.1:${hostPort}/`)).text()).toBe("from the guest");
      web.kill();
    },
    limitMs,
  );

  it(
    "shares a directory with the host, writable on both sides",
    async () => {
      await writeFile(join(share, "from-host"), "hello");
      await output(guest, "tr a-z A-Z </share/from-host >/share/from-guest");
      expect(await readFile(join(share, "from-guest"), "utf8")).toBe("HELLO");
    },
    limitMs,
  );

  it(
    "keeps written files after a clean reboot and after a reset",
    async () => {
      await output(guest, "echo kept >/var/kept; sync");
      const bootId = await output(guest, "cat /proc/sys/kernel/random/boot_id");
      await guest.reboot();
      expect(await output(guest, "cat /var/kept")).toBe("kept");
      await guest.reboot({ hard: true });
      expect(await output(guest, "cat /var/kept")).toBe("kept");
      expect(await output(guest, "cat /proc/sys/kernel/random/boot_id")).not.toBe(bootId);
    },
    limitMs,
  );

  it(
    "fails running commands when the kernel panics, with the end of the console output",
    async () => {
      const panicking = guest.exec("echo c >/proc/sysrq-trigger", { timeoutMs: limitMs });
      await expect(panicking).rejects.toMatchObject({
        code: "guest-panicked",
        output: expect.stringContaining("sysrq triggered crash"),
      });
    },
    limitMs,
  );
});

describe("two guests at once", () => {
  it(
    "share only the image",
    async () => {
      const guests = await Promise.all([bootGuest(), bootGuest()]);
      await Promise.all(guests.map((guest, index) => output(guest, `echo ${index} >/etc/mine; sync`)));
      expect(await Promise.all(guests.map((guest) => output(guest, "cat /etc/mine")))).toEqual(["0", "1"]);
      await Promise.all(guests.map((guest) => guest.kill()));
    },
    bootLimitMs,
  );
});

describe("a guest with systemd, Open vSwitch and the switchdev test driver", () => {
  let guest: Guest;
  beforeAll(async () => {
    guest = await bootGuest({ boot: "systemd", driver: "igbsw" });
  }, bootLimitMs);
  afterAll(() => guest[Symbol.asyncDispose]());

  it(
    "runs without a failed unit",
    async () => {
      expect(await output(guest, "systemctl is-system-running; systemctl --failed --quiet --plain")).toBe("running");
    },
    limitMs,
  );

  it(
    "creates representors in switchdev mode with the names of a ConnectX, and adds them to bridges",
    async () => {
      await output(guest, `echo 2 >${pf}/sriov_numvfs; devlink dev eswitch set pci/0000:01:00.0 mode switchdev`);
      await output(guest, "udevadm settle");
      expect(await output(guest, "cat /sys/class/net/enp1s0f0np0/phys_port_name")).toBe("p0");
      await output(guest, "ovs-vsctl add-br br0 -- add-port br0 enp1s0f0np0 -- add-port br0 enp1s0f0r1");
      expect(await output(guest, "ovs-vsctl list-ports br0")).toBe("enp1s0f0np0\nenp1s0f0r1");
    },
    limitMs,
  );

  it(
    "carries the traffic of VFs through their representors only, so the bridge's VLANs hold",
    async () => {
      const address = (vf: number): string => `192.0.2.${vf + 1}`;
      for (const vf of [0, 1]) {
        await output(guest, `ip netns add vf${vf}; ip link set enp1s0f0v${vf} netns vf${vf}`);
        await output(guest, `ip -n vf${vf} address add ${address(vf)}/24 dev enp1s0f0v${vf}`);
        await output(
          guest,
          `ip link set enp1s0f0np0 up; ip link set enp1s0f0r${vf} up; ip -n vf${vf} link set enp1s0f0v${vf} up`,
        );
      }
      await output(guest, "ovs-vsctl add-port br0 enp1s0f0r0 tag=100 -- set port enp1s0f0r1 tag=100");
      const ping = (seconds: number): string => `ip netns exec vf0 busybox ping -c 1 -w ${seconds} ${address(1)}`;
      await output(guest, ping(60));
      await output(guest, "ovs-vsctl set port enp1s0f0r1 tag=200");
      expect((await guest.exec(ping(3), { timeoutMs: limitMs })).code).toBe(1);
      await output(guest, "ovs-vsctl set port enp1s0f0r1 tag=100");
      await output(guest, ping(60));
      await output(guest, `ovs-vsctl del-br br0; ip netns del vf0; ip netns del vf1; echo 0 >${pf}/sriov_numvfs`);
    },
    limitMs,
  );

  it.each([
    { what: "a timer interrupt", vector: timerVector, processor: 0 },
    { what: "a timer interrupt", vector: timerVector, processor: 1 },
    { what: "an interrupt of a device", vector: 0x30, processor: 0 },
    { what: "an interrupt of a device", vector: 0x30, processor: 1 },
  ])(
    "goes on if QEMU leaves $what of processor $processor in service",
    async ({ vector, processor }) => {
      await corruptApicIsr(guest, processor, vector);
      const message = `lab_tick: ended interrupt 0x${vector.toString(16)} that processor ${processor} had`;
      await output(guest, `until dmesg | grep "${message}"; do sleep 0.2; done`);
      await output(guest, `taskset -c ${processor} sleep 0.1`);
    },
    limitMs,
  );
});

describe("npm run vm -- run", () => {
  /** Runs the job, a file of the share, with the command line. */
  async function run(job: string, ...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
    const file = join(share, "job.sh");
    await writeFile(file, `#!/bin/bash\n${job}\n`);
    await chmod(file, 0o755);
    const child = spawn(process.execPath, ["../tools/vm-lab/src/main.ts", "run", ...args, file, "one", "two words"]);
    const exit = new Promise((resolve) => child.on("close", resolve));
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await exit, stdout, stderr };
  }

  it(
    "streams the output of the job and exits with its exit code",
    async () => {
      const { code, stdout } = await run('echo "$2 in $PWD"; exit 7');
      expect({ code, stdout }).toEqual({ code: 7, stdout: "two words in /share\n" });
    },
    bootLimitMs,
  );

  it(
    "kills a job at its time limit, and reports it",
    async () => {
      const { code, stdout, stderr } = await run("echo hanging; sleep 10000", "--time-limit", "15");
      expect({ code, stdout }).toEqual({ code: 124, stdout: "hanging\n" });
      expect(stderr).toContain("was killed after its time limit of 15 s");
    },
    bootLimitMs,
  );
});
