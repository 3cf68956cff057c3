#include "cli/command.h"

int main(int argc, char** argv) { return einkorn::cli::command(argc, argv); }
