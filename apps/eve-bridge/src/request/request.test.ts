// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { CniError, cniCode } from "./cni-error.ts";
import { parseConf, parseEnvironment, parseRequest, versionIn, type Command } from "./request.ts";

const env = {
  CNI_COMMAND: "ADD",
  CNI_CONTAINERID: "0af",
  CNI_NETNS: "/var/run/netns/a",
  CNI_IFNAME: "net1",
  CNI_PATH: "/opt/cni/bin",
};

describe("parseEnvironment", () => {
  it.each([
    { command: "ADD", missing: "CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH" },
    { command: "CHECK", missing: "CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH" },
    { command: "DEL", missing: "CNI_CONTAINERID,CNI_IFNAME,CNI_PATH" },
    { command: "GC", missing: "CNI_PATH" },
    { command: "STATUS", missing: "CNI_PATH" },
  ])("names all that $command needs", ({ command, missing }) => {
    expect(() => parseEnvironment({ CNI_COMMAND: command })).toThrow(
      expect.objectContaining({
        code: cniCode.invalidEnvironment,
        message: `required env variables [${missing}] missing`,
      }),
    );
  });

  it("requires only CNI_COMMAND for VERSION", () => {
    expect(parseEnvironment({ CNI_COMMAND: "VERSION" }).command).toBe("VERSION");
  });

  it.each(["add", "toString", "__proto__", "UPDATE"])("refuses the command %s", (command) => {
    expect(() => parseEnvironment({ ...env, CNI_COMMAND: command })).toThrow(`unknown CNI_COMMAND: ${command}`);
  });

  it.each([
    { name: "CNI_CONTAINERID", value: "../etc" },
    { name: "CNI_CONTAINERID", value: "_a" },
    { name: "CNI_CONTAINERID", value: "a".repeat(201) },
    { name: "CNI_IFNAME", value: "sixteen-letters-" },
    { name: "CNI_IFNAME", value: "." },
    { name: "CNI_IFNAME", value: ".." },
    { name: "CNI_IFNAME", value: "a/b" },
    { name: "CNI_IFNAME", value: "a:b" },
    { name: "CNI_IFNAME", value: "a b" },
  ])("refuses $name=$value with code 4 and its name", ({ name, value }) => {
    const parse = () => parseEnvironment({ ...env, [name]: value });
    expect(parse).toThrow(expect.objectContaining({ code: cniCode.invalidEnvironment }));
    expect(parse).toThrow(name);
  });
});

describe("parseConf", () => {
  it.each([
    { what: "no JSON", stdin: '{"cniVersion":"1.0.0","na', code: cniCode.decoding },
    { what: "nothing", stdin: "", code: cniCode.decoding },
    { what: "an array", stdin: "[]", code: cniCode.decoding },
    { what: "null", stdin: "null", code: cniCode.decoding },
    { what: "a version that is not a string", stdin: '{"cniVersion":1,"name":"a"}', code: cniCode.decoding },
    { what: "no name", stdin: '{"cniVersion":"1.0.0"}', code: cniCode.invalidConfig },
    { what: "an empty name", stdin: '{"cniVersion":"1.0.0","name":""}', code: cniCode.invalidConfig },
    { what: "a name that is not a string", stdin: '{"cniVersion":"1.0.0","name":{}}', code: cniCode.invalidConfig },
    { what: "a name with a slash", stdin: '{"cniVersion":"1.0.0","name":"a/b"}', code: cniCode.invalidConfig },
    { what: "another version", stdin: '{"cniVersion":"1.2.0","name":"a"}', code: cniCode.incompatibleVersion },
    { what: "part of a version", stdin: '{"cniVersion":"1.0","name":"a"}', code: cniCode.incompatibleVersion },
  ])("refuses $what with code $code", ({ stdin, code }) => {
    expect(() => parseConf("ADD", stdin)).toThrow(expect.objectContaining({ code }));
  });

  it.each([101, 5_000, 200_000])("refuses %i levels for ADD, and leaves them out for DEL", (levels) => {
    const deep = `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const stdin = `{"cniVersion":"1.0.0","name":"a","x":${deep},"ipam":{"type":"host-local"}}`;
    expect(() => parseConf("ADD", stdin)).toThrow(expect.objectContaining({ code: cniCode.decoding }));
    const raw = { cniVersion: "1.0.0", name: "a", ipam: { type: "host-local" } };
    expect(parseConf("DEL", stdin).raw).toEqual(raw);
    expect(() => parseConf("DEL", deep)).toThrow(expect.objectContaining({ code: cniCode.decoding }));
  });

  it("lists the supported versions in the error", () => {
    expect(() => parseConf("ADD", '{"cniVersion":"9.9.9","name":"a"}')).toThrow(
      expect.objectContaining({
        message: "incompatible CNI versions",
        details: 'config is "9.9.9", plugin supports ["0.1.0" "0.2.0" "0.3.0" "0.3.1" "0.4.0" "1.0.0" "1.1.0"]',
      }),
    );
  });

  it("treats a configuration without version as 0.1.0", () => {
    expect(parseConf("ADD", '{"name":"a"}').cniVersion).toBe("0.1.0");
  });

  it.each([
    { command: "CHECK", before: "0.3.1", since: "0.4.0" },
    { command: "GC", before: "1.0.0", since: "1.1.0" },
    { command: "STATUS", before: "1.0.0", since: "1.1.0" },
  ] as const)("knows that $command came with $since", ({ command, before, since }) => {
    const conf = (version: string) => JSON.stringify({ cniVersion: version, name: "a" });
    expect(() => parseConf(command, conf(before))).toThrow(`config version does not allow ${command}`);
    expect(parseConf(command, conf(since)).cniVersion).toBe(since);
  });
});

describe("parseRequest", () => {
  it("throws nothing but CniError for any environment and any stdin", () => {
    const commands: Command[] = ["ADD", "DEL", "CHECK", "GC", "STATUS"];
    fc.assert(
      fc.property(
        fc.constantFrom(...commands),
        fc.string(),
        fc.string(),
        fc.oneof(fc.string(), fc.json()),
        (command, id, args, stdin) => {
          try {
            parseRequest(
              parseEnvironment({ ...env, CNI_COMMAND: command, CNI_CONTAINERID: id, CNI_ARGS: args }),
              stdin,
            );
          } catch (error) {
            expect(error).toBeInstanceOf(CniError);
          }
        },
      ),
    );
  });
});

describe("versionIn", () => {
  it.each([
    ['{"cniVersion":"0.3.1"}', "0.3.1"],
    ['{"cniVersion":3}', undefined],
    ["{", undefined],
    ["null", undefined],
  ])("of %s is %s", (stdin, version) => {
    expect(versionIn(stdin)).toBe(version);
  });
});
