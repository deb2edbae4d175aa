// SPDX-License-Identifier: Apache-2.0
/**
 * Takes from a process on Linux what macOS lacks: /proc and /sys, Unix sockets with paths above 103 bytes, programs of Linux, and
 * system calls by koffi. process.platform is "darwin". Child processes inherit it through NODE_OPTIONS.
 * It is plain JavaScript, because Node loads it before everything else.
 * Usage: `NODE_OPTIONS="--import $PWD/tools/run/src/testing/like-macos.mjs" npm run demo`
 */
import childProcess from "node:child_process";
import fs from "node:fs";
import { registerHooks, syncBuiltinESMExports } from "node:module";
import net from "node:net";
import { basename } from "node:path";

/** struct sockaddr_un of macOS has 104 bytes for the path and its NUL; that of Linux has 108. */
const maxSocketPathBytes = 103;
/** Programs that a Mac does not have. */
const linuxPrograms = new Set(["unshare", "setsid", "ip", "nsenter", "mount", "modprobe", "flock", "ss", "systemctl"]);

Object.defineProperty(process, "platform", { value: "darwin" });
hideLinuxFiles(fs);
hideLinuxFiles(fs.promises);
limitSocketPaths();
refusePrograms();
refuseSystemCalls();
syncBuiltinESMExports();

function hideLinuxFiles(module) {
  for (const [name, original] of Object.entries(module)) {
    if (typeof original !== "function" || /^[A-Z_]|^(constants|promises)$/.test(name)) continue;
    module[name] = like(original, function (path, ...rest) {
      if (!/^\/(proc|sys)(\/|$)/.test(String(path))) return Reflect.apply(original, this, [path, ...rest]);
      const message = `ENOENT: no such file or directory, ${name} '${path}' (macOS has none)`;
      const error = Object.assign(new Error(message), { code: "ENOENT", syscall: name, errno: -2, path: String(path) });
      const callback = rest.at(-1);
      if (module === fs.promises) return Promise.reject(error);
      if (typeof callback !== "function") throw error;
      process.nextTick(callback, error);
    });
  }
}

function limitSocketPaths() {
  for (const [owner, name] of [
    [net.Server.prototype, "listen"],
    [net.Socket.prototype, "connect"],
  ]) {
    const original = owner[name];
    owner[name] = function (...args) {
      const [first] = Array.isArray(args[0]) ? args[0] : args;
      const path = typeof first === "string" ? first : first?.path;
      if (typeof path === "string" && Buffer.byteLength(path) > maxSocketPathBytes) {
        throw Object.assign(new Error(`${name} EINVAL ${path}: longer than ${maxSocketPathBytes} bytes`), {
          code: "EINVAL",
        });
      }
      return Reflect.apply(original, this, args);
    };
  }
}

function refusePrograms() {
  for (const name of ["spawn", "spawnSync", "execFile", "execFileSync"]) {
    const original = childProcess[name];
    childProcess[name] = like(original, function (file, ...rest) {
      if (linuxPrograms.has(basename(String(file)))) {
        throw Object.assign(new Error(`spawn ${file} ENOENT (macOS has none)`), {
          code: "ENOENT",
          syscall: `spawn ${file}`,
        });
      }
      return Reflect.apply(original, this, [file, ...rest]);
    });
  }
}

/** koffi has a package for macOS, but the calls and constants that Switchyard uses are those of Linux. */
function refuseSystemCalls() {
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== "koffi") return next(specifier, context);
      const source = "export default { load() { throw new Error('this process makes system calls of Linux'); } };";
      return { url: `data:text/javascript,${encodeURIComponent(source)}`, shortCircuit: true };
    },
  });
}

/** Gives the function what the original has beside its code, such as what util.promisify uses instead. */
function like(original, replacement) {
  const { prototype, ...properties } = Object.getOwnPropertyDescriptors(original);
  return Object.defineProperties(replacement, properties);
}
