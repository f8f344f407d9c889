// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/peaks/DeviceChip.h"

#include "lib/measure/peaks/ThisChip.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/DiskCache.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::measure {

Machine describeDevice(const runtime::Device &device) {
  const runtime::DeviceDescription said = device.describe();
  Machine chip;
  chip.isDevice = true;
  chip.name = said.model.empty() ? device.name() : said.model;
  chip.architecture = device.architecture();
  chip.cores = std::max(device.processors(), 1);
  chip.fingerprint = fmt::format("{} {} {} processors {}", device.kind(), chip.architecture,
                                 chip.name, chip.cores);
  chip.memoryBytes = said.memoryBytes;
  chip.vectorBytes = said.vectorBytes > 0 ? said.vectorBytes : chip.vectorBytes;
  chip.vectorRegisters = said.registers > 0 ? said.registers : chip.vectorRegisters;
  for (const auto &[name, bytes, sharedBy] :
       {std::tuple("L1d", said.localBytes, 1), std::tuple("L2", said.cacheBytes, chip.cores)}) {
    if (bytes > 0) {
      chip.caches.push_back({name, bytes, sharedBy});
    }
  }
  return chip;
}

Machine deviceChip(const runtime::Device &device) {
  Machine chip = describeDevice(device);
  const std::string path = chipPath(chip, cacheDirectory());
  auto known = path.empty() ? Result<Machine>(makeError("E0001", "")) : loadMachine(path);
  if (known && known->fingerprint == chip.fingerprint && known->isCalibrated) {
    chip = std::move(*known);
    chip.isDevice = true;
  }
  return chip;
}

Result<std::string> keepDeviceChip(const Machine &chip) {
  const std::string folder = cacheDirectory(), path = chipPath(chip, folder);
  if (path.empty()) {
    return makeError("E0002", "there is no cache folder to keep the rates in")
        .withHelp("write them to a file with --out, and give it to --chip");
  }
  if (Status made = createFolders(folder); !made) {
    return made.error();
  }
  if (Status written = writeFileAtomically(path, toJson(chip)); !written) {
    return written.error();
  }
  return path;
}

} // namespace nereid::measure
