// SPDX-License-Identifier: Apache-2.0
// The classes of what random programs have in them. Each statement counts what it draws, so that a
// run can say what it has covered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nereid::fuzz {

enum class Class : uint8_t {
#define FUZZ_CLASS(NAME, TEXT) NAME,
#include "test/fuzz/programs/Classes.def"
#undef FUZZ_CLASS
};

/// Number of a class among classTexts().
size_t numberOf(Class one);
/// Bits of an element type by its name.
int64_t bitsOf(const std::string &type);
/// The type has literals of this size.
bool fits(const std::string &literalSize, const std::string &type);
/// A literal of one of literalSizes() beside a type that it fits.
size_t numberOfLiteral(const std::string &size, const std::string &type);
/// An integer of one type beside one of the other signedness.
size_t numberOfSigns(const std::string &signedType, const std::string &unsignedType);

const std::vector<std::string> &classTexts();
const std::vector<std::string> &literalSizes();
/// "int8" … "int64", "uint8" … "uint64"
const std::vector<std::string> &signedTypes();
const std::vector<std::string> &unsignedTypes();
/// Of tiles that literals stand beside.
const std::vector<std::string> &literalTypes();

} // namespace nereid::fuzz
