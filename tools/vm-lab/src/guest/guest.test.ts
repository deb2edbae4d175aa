// SPDX-License-Identifier: Apache-2.0
/** Tests the agent, its connection and Guest together without QEMU. The agent is a process on this machine. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { AgentConnection } from "./agent-connection.ts";
import { Guest } from "./guest.ts";
import { encodeLine } from "../agent/protocol.ts";
import { VmLabError } from "../vm-lab-error.ts";

// Starting a process takes several seconds on a loaded machine.

let directory = "";
let agent: AgentConnection;
let guest: Guest;
/** Whether the guest is found without timer interrupts. */
let isStalled = false;
/** Sends a line as the agent does. */
let say: (line: string) => void;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "guest-"));
  isStalled = false;
  const child = spawn(process.execPath, ["src/agent/main.ts"], { stdio: ["pipe", "pipe", "inherit"] });
  say = (line) => {
    child.stdout.unshift(Buffer.from(line));
  };
  agent = new AgentConnection(Duplex.from({ readable: child.stdout, writable: child.stdin }));
  guest = new Guest({
    agent,
    qemu: { consoleTail: () => "Loading the kernel" },
    owned: {
      [Symbol.asyncDispose]: () => {
        child.kill("SIGKILL");
        return rm(directory, { recursive: true });
      },
    },
    env: { LAB_COLOUR: "green" },
    consoleLog: "",
    bootTimeoutMs: 60_000,
    reportHang: async (ask) => ({ isStalled, text: `colour: ${await ask("echo $LAB_COLOUR")}` }),
    rebootCommand: "true",
    settledCommand: "true",
  });
  await guest.nextBoot();
});
afterEach(() => guest.kill());

describe("exec", () => {
  it("returns the code and both streams, whatever the code", async () => {
    const result = await guest.exec("echo $LAB_COLOUR; echo oh >&2; exit 3");
    expect(result).toEqual({ code: 3, stdout: "green\n", stderr: "oh\n" });
  });

  it("runs a program with arguments without a shell", async () => {
    expect(await guest.exec(["printf", "%s|", "a b", "$LAB_COLOUR"])).toMatchObject({ stdout: "a b|$LAB_COLOUR|" });
  });

  it("returns 127 for a program that cannot be started and 128 + n for signal n", async () => {
    const missing = await guest.exec(["/no/such/program"]);
    expect(missing).toMatchObject({ code: 127, stderr: expect.stringContaining("ENOENT") });
    expect(await guest.exec("kill -TERM $$")).toMatchObject({ code: 143 });
  });

  it("keeps characters that are split between two pieces of output", async () => {
    const { stdout } = await guest.exec("yes äöü | head -n 100000");
    expect(stdout).toBe("äöü\n".repeat(100_000));
  });

  it("runs many at once, each with its own output", async () => {
    const numbers = [...Array(10).keys()];
    const results = await Promise.all(numbers.map((number) => guest.exec(["echo", `${number}`])));
    expect(results.map(({ stdout }) => stdout)).toEqual(numbers.map((number) => `${number}\n`));
  });

  it("does not wait for a daemon that keeps the output open", async () => {
    const { stdout } = await guest.exec("sleep 1000 & echo $!");
    expect(process.kill(Number(stdout), "SIGKILL")).toBe(true);
  });

  it("kills the process and its children when the caller aborts, and shows their output", async () => {
    const file = join(directory, "child");
    const caller = new AbortController();
    const hanging = guest.exec(`echo begun; sleep 1000 & echo $! >${file}; wait`, { signal: caller.signal });
    const { stdout: child } = await guest.exec(`until [ -s ${file} ]; do sleep 0.01; done; cat ${file}`);
    caller.abort(new Error("enough"));
    await expect(hanging).rejects.toMatchObject({ code: "aborted", output: "begun" });
    await guest.exec(`while kill -0 ${child.trim()}; do sleep 0.01; done`);
  });

  it("kills the process at its time limit, and tells what the guest did", async () => {
    await expect(guest.exec("sleep 1000", { timeoutMs: 50 })).rejects.toMatchObject({
      code: "timed-out",
      message: expect.stringMatching(/colour: green[^]*Loading the kernel/),
    });
  });

  it("tells a guest that lost a timer from a process that hangs", async () => {
    isStalled = true;
    await expect(guest.exec("sleep 1000", { timeoutMs: 50 })).rejects.toMatchObject({
      code: "guest-stalled",
      message: expect.stringContaining("killed after 0.05 s, because a processor of the guest lost its timer"),
    });
  });

  it("kills a process that is silent for too long, but not one that reports what it does", async () => {
    const quietMs = 4_000;
    const { stdout } = await guest.exec("for i in $(seq 10); do echo $i; sleep 0.5; done", { quietMs });
    expect(stdout).toMatch(/10\n$/);
    await expect(guest.exec("sleep 1000", { quietMs: 50 })).rejects.toMatchObject({
      code: "timed-out",
      message: expect.stringMatching(/killed after 0.05 s without output[^]*Loading the kernel/),
    });
  });
});

describe("spawn", () => {
  it("streams output, takes input, and can be killed", async () => {
    const shell = guest.spawn("while read -r word; do echo got $word; done; echo end", { input: true });
    await shell.write("one\n");
    const pieces: unknown[] = await shell.stdout.take(1).toArray();
    expect(String(pieces[0])).toBe("got one\n");
    shell.kill();
    expect(await shell.exitCode).toBe(143);
  });

  it("closes the input", async () => {
    const cat = guest.spawn(["cat"], { input: true });
    await cat.write("to the end");
    cat.endInput();
    expect(await text(cat.stdout)).toBe("to the end");
    expect(await cat.exitCode).toBe(0);
  });
});

describe("push", () => {
  it("copies a file byte by byte, with its directories and a mode", async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256));
    await writeFile(join(directory, "source"), bytes);
    await guest.push(join(directory, "source"), join(directory, "a/b/target"), { mode: "750" });
    expect((await readFile(join(directory, "a/b/target"))).equals(bytes)).toBe(true);
    expect((await stat(join(directory, "a/b/target"))).mode & 0o777).toBe(0o750);
  });

  it("reports the error of the guest if the file cannot be written", async () => {
    await writeFile(join(directory, "file"), "");
    const failing = guest.push(join(directory, "file"), join(directory, "file/below"));
    await expect(failing).rejects.toMatchObject({ code: "bad-option", output: expect.stringContaining("file") });
  });
});

describe("a guest that is booted again", () => {
  it("fails running processes, resolves waits for the boot, and works again", async () => {
    const running = guest.spawn("sleep 1000");
    const next = guest.nextBoot();
    say(`{"type":"output","id":1,"str\n${encodeLine({ type: "hello", bootId: "second" })}`);
    await next;
    await expect(running.exitCode).rejects.toMatchObject({ code: "guest-rebooted" });
    expect(await guest.exec("echo again")).toMatchObject({ stdout: "again\n" });
  });
});

describe("a guest that is lost", () => {
  it("fails running, waiting and later processes with the reason", async () => {
    const lost = new VmLabError("guest-panicked", "the guest's kernel panicked:");
    const running = guest.spawn("sleep 1000");
    const next = guest.nextBoot();
    agent.lose(lost);
    await expect(running.exitCode).rejects.toBe(lost);
    await expect(next).rejects.toBe(lost);
    await expect(guest.exec("true")).rejects.toBe(lost);
  });
});
