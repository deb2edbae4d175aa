// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxConfigDrive implements ConfigDrive on the block device with the label config-2, which udev links. It needs no
 * mount, which would have to be removed again after a kill.
 * Usage: `await createLinuxConfigDrive("/host").readText("openstack/2018-08-27/meta_data.json")`.
 */
import { constants, promises as fs } from "node:fs";
import { join } from "node:path";
import { isErrno } from "@switchyard/service";
import { HostError, toHostError } from "../calls/host-error.ts";
import { operations } from "../calls/operations.ts";
import type { ConfigDrive } from "../ports/config-drive.ts";
import { IsoError, readIsoFile } from "./iso9660.ts";

const device = "dev/disk/by-label/config-2";

/** `root` is the directory that contains dev. */
export function createLinuxConfigDrive(root: string): ConfigDrive {
  return {
    async readText(path) {
      try {
        await using file = await fs.open(join(root, device), constants.O_RDONLY | constants.O_NONBLOCK);
        const read = async (offset: number, length: number): Promise<Buffer> => {
          const buffer = Buffer.alloc(length);
          const { bytesRead } = await file.read(buffer, 0, length, offset);
          return buffer.subarray(0, bytesRead);
        };
        return (await readIsoFile(read, path))?.toString("utf8");
      } catch (error) {
        if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
        const at = operations.configDrive.readText(path);
        // A drive with another file system, such as vfat, is found by its label, too.
        if (error instanceof IsoError) throw new HostError(at, "EBADMSG", { words: error.message, cause: error });
        throw toHostError(at, error);
      }
    },
  };
}
